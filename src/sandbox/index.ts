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
export { createSandbox } from './createSandbox.js';
export { startSandbox } from './startSandbox.js';
export type { RestartOptions, RestoreOptions, Sandbox } from './Sandbox.js';
export type { CreateSandboxOptions, SandboxOptions } from './SandboxOptions.js';
export type { SandboxChanges, SandboxProfile } from './SandboxChanges.js';
export type { SandboxRequest } from './SandboxRequest.js';
export type { GenerateOptions, UpdateVariant } from './traffic/GenerateOptions.js';
export type { PackageEntities } from './ledger/PackageEntities.js';

// Templates
export { interfaceInstance, template } from './templates/template.js';
export type {
  ChoiceBody,
  InterfaceBody,
  InterfaceInstance,
  SandboxTemplate,
  TemplateBody,
} from './templates/TemplateBody.js';
export type { NewContract, TemplateContract, TemplateLedger } from './templates/TemplateLedger.js';

// External parties
export type {
  ExternalParty,
  ExternalPartyOptions,
  HostedParty,
  PublicKey,
  WireSignature,
} from './participant/parties.js';

// Faults
export type { Fault, FaultScope } from './faults/Fault.js';
export type { FaultHang, FaultReset, FaultStall, FaultTruncate } from './faults/connectionFaults.js';
export type { FaultBody, FaultDelay, FaultRewrite, FaultStatus } from './faults/responseFaults.js';
export type { FaultSocket } from './faults/socketFaults.js';
export type { FaultCommitLate, FaultLie, FaultReject } from './faults/submissionFaults.js';
export { cantonError, type WireCantonError } from './errors.js';

// Updates in wire form
export type {
  WireArchivedEvent,
  WireAssignedEvent,
  WireAuthorization,
  WireCreatedEvent,
  WireEvent,
  WireEventInput,
  WireExercisedEvent,
  WireInterfaceView,
  WireReassignment,
  WireReassignmentEvent,
  WireReassignmentEventInput,
  WireRevocation,
  WireTopologyEvent,
  WireTopologyTransaction,
  WireTraceContext,
  WireTransaction,
  WireUnassignedEvent,
  WireUpdate,
  WireUpdateInput,
} from './wire/WireUpdate.js';
