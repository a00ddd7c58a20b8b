/**
 * An embedded participant for tests and demos, with failures on request. For Node.js.
 *
 * @example
 * ```ts
 * import { createLedger } from 'canton-rx';
 * import { startSandbox } from 'canton-rx/sandbox';
 * import { finalize } from 'rxjs';
 *
 * const sandbox = await startSandbox();
 * sandbox.generate(100);
 *
 * createLedger({ baseUrl: sandbox.url })
 *   .ledgerEnd()
 *   .pipe(finalize(() => void sandbox.close()))
 *   .subscribe((offset) => console.log(offset === sandbox.ledgerEnd));
 * // => true
 * ```
 *
 * @module canton-rx/sandbox
 */

// The sandbox
export { startSandbox } from './startSandbox.js';
export type {
  RestartOptions,
  Sandbox,
  SandboxChanges,
  SandboxOptions,
  SandboxProfile,
  SandboxRequest,
} from './Sandbox.js';
export type { GenerateOptions, PackageEntities, UpdateVariant } from './SandboxContents.js';

// External parties
export type { ExternalParty, ExternalPartyOptions, HostedParty, PublicKey } from './ExternalParty.js';
export type { WireSignature } from './wire/WireUpdate.js';

// Faults
export type {
  Fault,
  FaultBody,
  FaultCommitLate,
  FaultDelay,
  FaultHang,
  FaultLie,
  FaultReset,
  FaultRewrite,
  FaultScope,
  FaultStall,
  FaultTruncate,
} from './Fault.js';
export type { FaultSocket, FaultStatus } from './FaultSocket.js';
export { cantonError } from './errors.js';
export type { WireCantonError } from './wire/WireUpdate.js';

// Updates in wire form
export type {
  WireAuthorization,
  WireRevocation,
  WireTopologyEvent,
  WireTopologyTransaction,
  WireTransaction,
  WireUpdate,
  WireUpdateInput,
} from './wire/WireUpdate.js';
export type {
  WireArchivedEvent,
  WireCreatedEvent,
  WireEvent,
  WireEventInput,
  WireExercisedEvent,
  WireInterfaceView,
  WireStatus,
  WireTraceContext,
} from './wire/WireEvent.js';
export type {
  WireAssignedEvent,
  WireReassignment,
  WireReassignmentEvent,
  WireReassignmentEventInput,
  WireUnassignedEvent,
} from './wire/WireReassignment.js';
