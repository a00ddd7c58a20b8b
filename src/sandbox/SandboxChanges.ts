import type { SandboxOptions } from './SandboxOptions.js';

/** What an operator can change on a running {@link Sandbox}. */
export type SandboxChanges = Partial<
  Pick<
    SandboxOptions,
    | 'profile'
    | 'participantId'
    | 'maxListElements'
    | 'listWaitTimeMs'
    | 'requestTimeoutMs'
    | 'preparationTimeToleranceMs'
    | 'ledgerTimeToleranceMs'
    | 'earlyCheckpointMs'
    | 'idleCheckpointMs'
    | 'webSocketIdleMs'
    | 'webSocketRefusal'
    | 'checkToken'
    | 'interfaceOnly'
    | 'deprecatedApis'
  >
>;
