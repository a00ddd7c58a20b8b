import type { SandboxChanges, SandboxOptions, SandboxProfile } from '../Sandbox.js';

/** The options with their defaults. Handlers read them for each request, because they can change. */
export class Settings {
  profile: SandboxProfile = '3.5';
  maxListElements = 200;
  listWaitTimeMs = 500;
  requestTimeoutMs = 20_000;
  preparationTimeToleranceMs = 86_400_000;
  ledgerTimeToleranceMs = 60_000;
  idleCheckpointMs: number | false = 60_000;
  webSocketIdleMs = 60_000;
  webSocketRefusal: 'message' | 'handshake' = 'message';
  checkToken: ((token: string | undefined) => boolean) | undefined = undefined;
  interfaceOnly = false;
  deprecatedApis = false;
  activeContractsPages = true;
  readonly cors: boolean;
  readonly synchronizers: readonly string[];
  participantId = `participant1::1220${'11'.repeat(32)}`;
  #earlyCheckpointMs: number | false | undefined;

  constructor({ cors = false, synchronizers = defaultSynchronizers, ...changes }: SandboxOptions) {
    this.cors = cors;
    this.synchronizers = synchronizers;
    this.change(changes);
  }

  get earlyCheckpointMs(): number | false {
    return this.#earlyCheckpointMs ?? (this.profile === '3.4' ? false : 500);
  }

  change(changes: SandboxChanges): void {
    this.participantId = changes.participantId ?? this.participantId;
    this.profile = changes.profile ?? this.profile;
    this.maxListElements = changes.maxListElements ?? this.maxListElements;
    this.listWaitTimeMs = changes.listWaitTimeMs ?? this.listWaitTimeMs;
    this.requestTimeoutMs = changes.requestTimeoutMs ?? this.requestTimeoutMs;
    this.preparationTimeToleranceMs = changes.preparationTimeToleranceMs ?? this.preparationTimeToleranceMs;
    this.ledgerTimeToleranceMs = changes.ledgerTimeToleranceMs ?? this.ledgerTimeToleranceMs;
    this.idleCheckpointMs = changes.idleCheckpointMs ?? this.idleCheckpointMs;
    this.webSocketIdleMs = changes.webSocketIdleMs ?? this.webSocketIdleMs;
    this.webSocketRefusal = changes.webSocketRefusal ?? this.webSocketRefusal;
    this.checkToken = changes.checkToken ?? this.checkToken;
    this.interfaceOnly = changes.interfaceOnly ?? this.interfaceOnly;
    this.deprecatedApis = changes.deprecatedApis ?? this.deprecatedApis;
    this.activeContractsPages = changes.activeContractsPages ?? this.activeContractsPages;
    this.#earlyCheckpointMs = changes.earlyCheckpointMs ?? this.#earlyCheckpointMs;
  }
}

/** Two synchronizers, so that contracts can be reassigned. */
const defaultSynchronizers: readonly string[] = [`sync1::1220${'a1'.repeat(32)}`, `sync2::1220${'b2'.repeat(32)}`];
