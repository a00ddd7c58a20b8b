/**
 * A ledger service to run in tests and demos, with failures on request. For Node.js.
 *
 * @module canton-rx/sandbox
 */

export { startSandbox } from './startSandbox.js';
export { cantonError } from './errors.js';
export type { Sandbox } from './Sandbox.js';
export type { SandboxOptions } from './Sandbox.js';
export type { SandboxChanges } from './Sandbox.js';
export type { RestartOptions } from './Sandbox.js';
export type { SandboxProfile } from './Sandbox.js';
export type { SandboxRequest } from './Sandbox.js';
export type { GenerateOptions } from './Sandbox.js';
export type { UpdateVariant } from './Sandbox.js';
export type { ExternalParty } from './ExternalParty.js';
export type { ExternalPartyOptions, PublicKey } from './ExternalParty.js';
export type { HostedParty } from './ExternalParty.js';
export type { WireSignature } from './wire/WireUpdate.js';
export type { WireCantonError } from './wire/WireUpdate.js';
export type { WireUpdate } from './wire/WireUpdate.js';
export type { WireUpdateInput } from './wire/WireUpdate.js';
export type { WireTransaction } from './wire/WireUpdate.js';
export type { WireEvent } from './wire/WireEvent.js';
export type { WireEventInput } from './wire/WireEvent.js';
export type { WireCreatedEvent } from './wire/WireEvent.js';
export type { WireArchivedEvent } from './wire/WireEvent.js';
export type { WireExercisedEvent } from './wire/WireEvent.js';
export type { WireInterfaceView } from './wire/WireEvent.js';
export type { WireStatus } from './wire/WireEvent.js';
export type { WireReassignment } from './wire/WireReassignment.js';
export type { WireReassignmentEvent } from './wire/WireReassignment.js';
export type { WireReassignmentEventInput } from './wire/WireReassignment.js';
export type { WireAssignedEvent } from './wire/WireReassignment.js';
export type { WireUnassignedEvent } from './wire/WireReassignment.js';
export type { WireTopologyTransaction } from './wire/WireUpdate.js';
export type { WireTopologyEvent } from './wire/WireUpdate.js';
export type { WireAuthorization } from './wire/WireUpdate.js';
export type { WireRevocation } from './wire/WireUpdate.js';
export type { WireTraceContext } from './wire/WireEvent.js';
export type { Fault } from './Fault.js';
export type { FaultScope } from './Fault.js';
export type { FaultStatus } from './FaultSocket.js';
export type { FaultReset } from './Fault.js';
export type { FaultTruncate } from './Fault.js';
export type { FaultStall } from './Fault.js';
export type { FaultHang } from './Fault.js';
export type { FaultDelay } from './Fault.js';
export type { FaultBody } from './Fault.js';
export type { FaultRewrite } from './Fault.js';
export type { FaultLie } from './Fault.js';
export type { FaultSocket } from './FaultSocket.js';
export type { FaultCommitLate } from './Fault.js';
