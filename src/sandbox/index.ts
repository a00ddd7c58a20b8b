/**
 * A ledger service to run in tests and demos, with failures on request. For Node.js.
 *
 * @module canton-rx/sandbox
 */

export { startSandbox } from './startSandbox.js';
export { cantonError } from './errors/cantonError.js';
export type { Sandbox } from './Sandbox.js';
export type { SandboxOptions } from './SandboxOptions.js';
export type { SandboxChanges } from './SandboxChanges.js';
export type { RestartOptions } from './RestartOptions.js';
export type { SandboxProfile } from './SandboxProfile.js';
export type { SandboxRequest } from './SandboxRequest.js';
export type { GenerateOptions } from './GenerateOptions.js';
export type { UpdateVariant } from './UpdateVariant.js';
export type { ExternalParty } from './ExternalParty.js';
export type { ExternalPartyOptions, PublicKey } from './ExternalPartyOptions.js';
export type { HostedParty } from './HostedParty.js';
export type { WireSignature } from './wire/WireSignature.js';
export type { WireCantonError } from './wire/WireCantonError.js';
export type { WireUpdate } from './wire/WireUpdate.js';
export type { WireUpdateInput } from './wire/WireUpdateInput.js';
export type { WireTransaction } from './wire/WireTransaction.js';
export type { WireEvent } from './wire/WireEvent.js';
export type { WireEventInput } from './wire/WireEventInput.js';
export type { WireCreatedEvent } from './wire/WireCreatedEvent.js';
export type { WireArchivedEvent } from './wire/WireArchivedEvent.js';
export type { WireExercisedEvent } from './wire/WireExercisedEvent.js';
export type { WireInterfaceView } from './wire/WireInterfaceView.js';
export type { WireStatus } from './wire/WireStatus.js';
export type { WireReassignment } from './wire/WireReassignment.js';
export type { WireReassignmentEvent } from './wire/WireReassignmentEvent.js';
export type { WireReassignmentEventInput } from './wire/WireReassignmentEventInput.js';
export type { WireAssignedEvent } from './wire/WireAssignedEvent.js';
export type { WireUnassignedEvent } from './wire/WireUnassignedEvent.js';
export type { WireTopologyTransaction } from './wire/WireTopologyTransaction.js';
export type { WireTopologyEvent } from './wire/WireTopologyEvent.js';
export type { WireAuthorization } from './wire/WireAuthorization.js';
export type { WireRevocation } from './wire/WireRevocation.js';
export type { WireTraceContext } from './wire/WireTraceContext.js';
export type { Fault } from './faults/Fault.js';
export type { FaultScope } from './faults/FaultScope.js';
export type { FaultStatus } from './faults/FaultStatus.js';
export type { FaultReset } from './faults/FaultReset.js';
export type { FaultTruncate } from './faults/FaultTruncate.js';
export type { FaultStall } from './faults/FaultStall.js';
export type { FaultHang } from './faults/FaultHang.js';
export type { FaultDelay } from './faults/FaultDelay.js';
export type { FaultBody } from './faults/FaultBody.js';
export type { FaultRewrite } from './faults/FaultRewrite.js';
export type { FaultLie } from './faults/FaultLie.js';
export type { FaultSocket } from './faults/FaultSocket.js';
export type { FaultCommitLate } from './faults/FaultCommitLate.js';
