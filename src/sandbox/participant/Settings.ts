import { randomBytes } from 'node:crypto';
import { checkNotNegative } from '../../codecs/internal/numbers.js';
import type { SandboxProfile } from '../SandboxChanges.js';
import type { SandboxOptions } from '../SandboxOptions.js';

/** Which web pages may send requests: none, those of this machine, or those of the given origins. */
export type AllowedOrigins = boolean | readonly string[];

/** The options with their defaults. Handlers read them for each request, because they can change. */
export class Settings {
  profile: SandboxProfile = '3.5';
  maxListElements = 200;
  listWaitTimeMs = 500;
  requestTimeoutMs = 20_000;
  preparationTimeToleranceMs = 86_400_000;
  ledgerTimeToleranceMs = 60_000;
  defaultDeduplicationMs = 30_000;
  archiveLagMs = 0;
  contention = 0;
  automaticReassignments = false;
  idleCheckpointMs: number | false = 60_000;
  webSocketIdleMs = 60_000;
  webSocketRefusal: 'message' | 'handshake' = 'message';
  checkToken: ((token: string | undefined) => boolean) | undefined = undefined;
  interfaceOnly = false;
  deprecatedApis = false;
  activeContractsPages = true;
  mispairsInFlight = false;
  cors: AllowedOrigins = false;
  anyContentType = false;
  confirmationMs = 5;
  synchronizers: readonly string[] = [`sync1::1220${'a1'.repeat(32)}`, `sync2::1220${'b2'.repeat(32)}`];
  participantId = newParticipantId();
  earlyCheckpointMs: number | false | undefined = undefined;

  constructor(options: SandboxOptions) {
    this.change(options);
  }

  get version(): string {
    return versions[this.profile];
  }

  /** The largest body of a request. */
  get maxBodyBytes(): number {
    return (this.profile < '3.6' ? 8 : 10) * mebibyte;
  }

  /** The time from the start of a stream to its first checkpoint. */
  get firstCheckpointMs(): number | false {
    return this.earlyCheckpointMs ?? (this.profile < '3.5' ? false : 500);
  }

  change(changes: SandboxOptions): void {
    checkTimes(changes);
    checkOrigins(changes.cors);
    const present = Object.entries(changes).filter(([name, value]) => value !== undefined && Object.hasOwn(this, name));
    Object.assign(this, Object.fromEntries(present));
  }
}

const mebibyte = 2 ** 20;

/** Creates the id of a new participant. Each has its own keys, and so another fingerprint. */
const newParticipantId = (): string => `participant1::1220${randomBytes(32).toString('hex')}`;

/** The version that the participant of a release line reports. Code compares release lines as text. */
const versions: Readonly<Record<SandboxProfile, string>> = {
  '3.3': '3.3.0',
  '3.4': '3.4.12',
  '3.5': '3.5.19',
  '3.6': '3.6.1',
  '3.7': '3.7.4',
};

/** Throws a TypeError if a number is out of range. */
function checkTimes(changes: SandboxOptions): void {
  const { maxListElements, listWaitTimeMs, requestTimeoutMs, webSocketIdleMs } = changes;
  const { preparationTimeToleranceMs, ledgerTimeToleranceMs, earlyCheckpointMs, idleCheckpointMs } = changes;
  checkNotNegative({ maxListElements }, true);
  checkNotNegative({ listWaitTimeMs, requestTimeoutMs, webSocketIdleMs });
  checkNotNegative({ preparationTimeToleranceMs, ledgerTimeToleranceMs });
  checkNotNegative({ contention: changes.contention, confirmationMs: changes.confirmationMs });
  checkNotNegative({ defaultDeduplicationMs: changes.defaultDeduplicationMs, archiveLagMs: changes.archiveLagMs });
  if (earlyCheckpointMs !== false) checkNotNegative({ earlyCheckpointMs });
  if (idleCheckpointMs !== false) checkNotNegative({ idleCheckpointMs });
}

/** Whether a text is the origin of a web page as browsers write it. A page without an origin has the origin `null`. */
export function isOrigin(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url !== undefined && /^https?:$/.test(url.protocol) && url.origin === text;
}

/** Throws a `TypeError` if one of the allowed origins could never match. */
function checkOrigins(allowed: AllowedOrigins | undefined): void {
  const wrong = typeof allowed === 'object' ? allowed.find((origin) => !isOrigin(origin)) : undefined;
  if (wrong === undefined) return;
  throw new TypeError(`${JSON.stringify(wrong)} is not the origin of web pages, such as http://localhost:5173`);
}
