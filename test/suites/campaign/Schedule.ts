/** One run of the campaign, as plain data: what fast-check prints can be read, and repeated. */
export interface Schedule {
  readonly ledger: readonly Growth[];
  /** How many entries the ledger has when the feed begins. */
  readonly known: number;
  /** Where the feed begins, in thousandths of the ledger end. */
  readonly begin: number;
  readonly bound: number | null;
  readonly isDownward: boolean;
  readonly profile: ProfileName;
  readonly latencyMs: number;
  /** The most that one answer may take longer than another. */
  readonly spreadMs: number;
  readonly maxListElements: number;
  readonly checkpointMs: number | null;
  readonly changes: readonly Change[];
  readonly faults: readonly FaultRule[];
  readonly lag: Lag | null;
  readonly token: TokenPlan | null;
  readonly maxPageSize: number;
  /** `null` leaves it to the feed. */
  readonly parallelRanges: number | null;
  readonly idleTimeoutMs: number;
  readonly giveUpAfterMs: number;
  readonly onGap: GapChoice | null;
  /** Faults of the sockets by which the feed follows; `null` for a feed that polls. */
  readonly socketFaults: readonly SocketFaultRule[] | null;
  readonly isLegacy: boolean;
  /** The seed of the back-off's jitter. */
  readonly jitter: number;
}

/** The next entry of the ledger; a sample of `null` is an update that the feed's format does not match. */
export interface Growth {
  readonly gap: number;
  readonly sample: number | null;
  readonly afterMs: number;
}

export type ProfileName = 'interface' | '3.4' | '3.5' | '3.6 disabled' | '3.6 gone';

/** What an operator does to the participant. */
export type Change =
  | { readonly kind: 'restart'; readonly atMs: number; readonly maxListElements: number }
  /** Old and new replicas answer in turn for `rollingMs`. */
  | { readonly kind: 'upgrade'; readonly atMs: number; readonly rollingMs: number; readonly to: ProfileName }
  /** Up to a share of the ledger, in thousandths. */
  | { readonly kind: 'prune'; readonly atMs: number; readonly share: number }
  /** By so many offsets. */
  | { readonly kind: 'restore'; readonly atMs: number; readonly back: number }
  | Replacement;

/** Another ledger appears at the address after `downMs`. */
export interface Replacement {
  readonly kind: 'replace';
  readonly atMs: number;
  readonly downMs: number;
  /** What the ledger has of the first one, in thousandths: a backup. */
  readonly shared: number;
  /** The updates after that. */
  readonly growth: readonly Growth[];
  readonly isOtherParticipant: boolean;
}

/** The last replacement of a schedule. */
export const replacementIn = ({ changes }: Schedule): Replacement | undefined =>
  changes.findLast((change) => change.kind === 'replace');

/** A fault, and which requests it affects: one, or all within some time. */
export interface FaultRule {
  readonly on: 'any' | 'page' | 'bounded' | 'poll' | 'end';
  readonly when: { readonly request: number } | { readonly fromMs: number; readonly forMs: number };
  readonly fault: Fault;
}

export type Fault =
  | { readonly kind: 'status'; readonly status: string; readonly afterMs: number }
  /** The connection breaks before the answer. */
  | { readonly kind: 'reset'; readonly afterMs: number }
  /** The answer breaks off, after so many thousandths of its text. */
  | { readonly kind: 'cut'; readonly at: number }
  | { readonly kind: 'never' }
  /** The answer is larger than the client reads. */
  | { readonly kind: 'huge' }
  | { readonly kind: 'late'; readonly byMs: number }
  /** Each element is repeated directly after itself. */
  | { readonly kind: 'twice' }
  /** Elements at or before the cursor are repeated. */
  | { readonly kind: 'again'; readonly count: number }
  /** A poll returns only elements that have been delivered before. */
  | { readonly kind: 'stale' }
  /** A poll returns nothing, though there are elements. */
  | { readonly kind: 'empty' }
  /** A page has fewer elements than there are. */
  | { readonly kind: 'short'; readonly count: number }
  /** Two elements are swapped. */
  | { readonly kind: 'backwards' }
  /** A page of a bounded range has only elements that have been delivered before. */
  | { readonly kind: 'nowhere' }
  /** One element does not decode. */
  | { readonly kind: 'undecodable'; readonly at: number };

/** A fault of the n-th socket. */
export interface SocketFaultRule {
  readonly socket: number;
  readonly fault: SocketFault;
}

/** A fault of a socket, with `after` the number of elements that it delivers before. */
export type SocketFault =
  | { readonly kind: 'refused' }
  /** It never opens. */
  | { readonly kind: 'never' }
  | { readonly kind: 'closed'; readonly after: number; readonly code: number }
  /** The connection is half open: nothing arrives, not even its end. */
  | { readonly kind: 'silent'; readonly after: number }
  /** The service answers pings and sends nothing else. */
  | { readonly kind: 'deaf'; readonly after: number }
  /** An error arrives as a message. */
  | { readonly kind: 'error'; readonly after: number; readonly status: string }
  /** A message breaks off. */
  | { readonly kind: 'torn'; readonly after: number }
  | { readonly kind: 'twice'; readonly after: number }
  | { readonly kind: 'undecodable'; readonly after: number; readonly at: number };

/** A replica that lags by so many offsets answers for some time. */
export interface Lag {
  readonly fromMs: number;
  readonly forMs: number;
  readonly by: number;
}

export interface TokenPlan {
  /** How long the service accepts a token. */
  readonly validMs: number;
  /** How long the provider returns the same token. */
  readonly cachedMs: number;
  readonly refusal: string;
  /** When the provider fails. */
  readonly trouble: { readonly kind: 'fails' | 'hangs'; readonly fromMs: number; readonly forMs: number } | null;
}

/** Where the caller continues after a gap. */
export type GapChoice = 'offered' | 'ledger end' | 'nothing' | 'behind' | 'later';

/** When the last planned event of a schedule happens, in milliseconds. */
export function lastEventMs({ ledger, known, changes, faults, lag, token }: Schedule): number {
  const growth = ledger.slice(known).reduce((ms, { afterMs }) => ms + afterMs, 0);
  const windows = [lag, token?.trouble, ...faults.map(({ when }) => ('fromMs' in when ? when : null))];
  return Math.max(
    growth,
    ...changes.map((change) => change.atMs + durationOf(change)),
    ...windows.map((window) => (window ? window.fromMs + window.forMs : 0)),
  );
}

function durationOf(change: Change): number {
  if (change.kind === 'upgrade') return change.rollingMs;
  // a ledger that ends before the cursor is recognized after a grace period
  return change.kind === 'replace' ? change.downMs + 20_000 : 4_000;
}

/** Whether a new token is valid for as long as an answer takes. Otherwise a feed receives nothing, and retries. */
export const hasUsableTokens = ({ token, latencyMs, spreadMs }: Schedule): boolean =>
  token === null || token.validMs > latencyMs + spreadMs;

/** Whether a new token is also valid until a poll without updates ends, by a checkpoint or by its idle timeout. */
export const outlastsPolls = ({ token, latencyMs, spreadMs, checkpointMs, idleTimeoutMs }: Schedule): boolean =>
  token === null || token.validMs > latencyMs + spreadMs + Math.max(checkpointMs ?? 500, idleTimeoutMs);

/**
 * How much longer a feed may take to detect a socket that delivers nothing more, in milliseconds. Where HTTP cannot
 * answer it, or the ledger end may be that of a lagging replica, the feed waits until it gives the socket up.
 */
export const deafSocketMs = ({ socketFaults }: Pick<Schedule, 'socketFaults'>): number =>
  socketFaults?.some(({ fault }) => fault.kind === 'deaf') === true ? 100_000 : 0;
