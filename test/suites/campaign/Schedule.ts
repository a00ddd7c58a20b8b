/** One run of the campaign, as plain data: what fast-check prints can be read, and run again. */
export interface Schedule {
  readonly ledger: readonly Growth[];
  /** How many of them are there when the feed begins. */
  readonly known: number;
  /** Where the feed begins, in thousandths of the ledger end. */
  readonly begin: number;
  readonly bound: number | null;
  readonly isDownward: boolean;
  readonly profile: ProfileName;
  readonly latencyMs: number;
  /** By how much an answer may take longer than another. */
  readonly spreadMs: number;
  readonly maxListElements: number;
  readonly checkpointMs: number | null;
  readonly changes: readonly Change[];
  readonly strikes: readonly Strike[];
  readonly lag: Lag | null;
  readonly token: TokenPlan | null;
  readonly maxPageSize: number;
  /** `null` leaves it to the feed. */
  readonly parallelRanges: number | null;
  readonly idleTimeoutMs: number;
  readonly giveUpAfterMs: number;
  readonly onGap: GapChoice | null;
  /** What goes wrong with the sockets by which the feed follows; `null` for one that polls. */
  readonly pushes: readonly Push[] | null;
  readonly isLegacy: boolean;
  /** The seed of the back-off's jitter. */
  readonly jitter: number;
}

/** What comes next on the ledger; a sample of `null` is something that does not match. */
export interface Growth {
  readonly gap: number;
  readonly sample: number | null;
  readonly afterMs: number;
}

export type ProfileName = 'interface' | '3.4' | '3.5' | '3.6 disabled' | '3.6 gone';

/** What somebody does to the participant. */
export type Change =
  | { readonly kind: 'restart'; readonly atMs: number; readonly maxListElements: number }
  /** While it rolls, old and new replicas answer in turn. */
  | { readonly kind: 'upgrade'; readonly atMs: number; readonly rollingMs: number; readonly to: ProfileName }
  /** Up to so many thousandths of the ledger. */
  | { readonly kind: 'prune'; readonly atMs: number; readonly share: number }
  /** By so many offsets; it may come as far as before again. */
  | { readonly kind: 'restore'; readonly atMs: number; readonly back: number; readonly growsAfterMs: number | null };

/** Something that goes wrong with a request: with one, or with all in a while. */
export interface Strike {
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
  /** Each element is repeated directly behind itself. */
  | { readonly kind: 'twice' }
  /** So many elements before the cursor, or at it, come again. */
  | { readonly kind: 'again'; readonly count: number }
  /** A poll brings what has been delivered before, and nothing else. */
  | { readonly kind: 'stale' }
  /** A poll brings nothing, though there is something. */
  | { readonly kind: 'empty' }
  /** Fewer elements than there are: so many. */
  | { readonly kind: 'short'; readonly count: number }
  /** Two elements are swapped. */
  | { readonly kind: 'backwards' }
  /** A page of a range that has an end brings nothing but what has been delivered before. */
  | { readonly kind: 'nowhere' }
  /** One element does not decode. */
  | { readonly kind: 'undecodable'; readonly at: number }
  /** An object in place of the list. */
  | { readonly kind: 'no list' };

/** Something that goes wrong with the n-th socket. */
export interface Push {
  readonly socket: number;
  readonly fault: PushFault;
}

/** What happens to a socket, where it says so behind so many elements. */
export type PushFault =
  | { readonly kind: 'refused' }
  /** It is never open. */
  | { readonly kind: 'never' }
  | { readonly kind: 'closed'; readonly after: number; readonly code: number }
  /** The connection is half open: nothing comes any more, not even its end. */
  | { readonly kind: 'silent'; readonly after: number }
  /** Pings are answered, and nothing else comes any more. */
  | { readonly kind: 'deaf'; readonly after: number }
  /** An error comes as a message. */
  | { readonly kind: 'error'; readonly after: number; readonly status: string }
  /** A message breaks off. */
  | { readonly kind: 'torn'; readonly after: number }
  | { readonly kind: 'twice'; readonly after: number }
  | { readonly kind: 'undecodable'; readonly after: number; readonly at: number };

/** A replica that is behind by so many offsets answers for a while. */
export interface Lag {
  readonly fromMs: number;
  readonly forMs: number;
  readonly by: number;
}

export interface TokenPlan {
  /** How long the service takes one. */
  readonly validMs: number;
  /** How long the provider gives the same. */
  readonly cachedMs: number;
  readonly refusal: string;
  /** When the provider is in trouble. */
  readonly trouble: { readonly kind: 'fails' | 'hangs'; readonly fromMs: number; readonly forMs: number } | null;
}

/** Where the caller goes on at a gap. */
export type GapChoice = 'offered' | 'ledger end' | 'nothing' | 'behind' | 'later';
