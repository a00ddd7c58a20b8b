import type { Observable } from 'rxjs';
import type { CommandsRequest, DisclosedContract } from '../codecs/SubmissionRequest.js';
import type { Offset } from '../codecs/scalars.js';
import type { SubmittedTransaction } from '../codecs/Transaction.js';
import type { Update } from '../codecs/Update.js';
import type { TransactionFormat } from '../codecs/UpdateFormat.js';
import type { ApiError } from '../errors/ApiError.js';
import type { Report } from '../diagnostics/Diagnostic.js';
import type { Submission } from '../errors/submission.js';
import type { CompleteRetryPolicy } from '../http/retry.js';
import type { Client } from '../client/Client.js';
import type { Kind } from './codes.js';
import type { LedgerStart } from './LedgerStart.js';

/** What the attempts of one subscription share. */
export interface Run {
  /** The participant. */
  readonly client: Client;
  /** What identifies the change, shared by all its subscriptions. */
  readonly change: {
    /** Identifies the transaction when it is read back; `undefined` if only the signed bytes have it. */
    readonly commandId: string | undefined;
    /** The submission ids of all attempts of this process. Their completions are certain to be those of the change. */
    readonly submissionIds: Set<string>;
    /** The user whose token the attempts have; `undefined` if that is not known. */
    user: string | undefined;
    /** The participant to which commands are sent, if it is known. Their attempts stay there. */
    participantId: string | undefined;
  };
  readonly report: Report;
  readonly strategy: Strategy;
  /** The retry policy; `giveUpAfterMs` is 0 for a single attempt. */
  readonly retry: CompleteRetryPolicy;
  readonly start: LedgerStart;
  readonly submission: Omit<Submission, 'attempts'>;
  /** The id of the update that was committed, if a completion of an attempt has shown it. */
  readonly updateId?: string | undefined;
  /** Returns the time since the change was first sent, in milliseconds. */
  readonly ageMs: () => number;
  /** Whether another subscription may commit the change, or has since this one began. */
  readonly mayBeCommittedElsewhere: () => boolean;
  /** Records that this subscription sends nothing more. */
  readonly rest: () => Rest;
  /** Returns the same with a later start, because the participant has pruned the present one. */
  readonly beginAt: (since: number) => Run;
}

/** The time in which a subscription sends nothing more. */
export interface Rest {
  /** Whether another subscription has sent the change since this was last called, or may still send it. */
  readonly isSentElsewhere: () => boolean;
  readonly end: () => void;
}

/** What differs between the attempts of a change. */
export interface AttemptKey {
  /** Whether an earlier attempt may have been committed. */
  readonly isResent: boolean;
  /** Contracts that an earlier attempt may have archived. */
  readonly disclosed: readonly DisclosedContract[];
  /** The earliest offset that a deduplication period may have, if the participant has named it. */
  readonly earliest: Offset | undefined;
}

/** What the participant knows of the contracts that commands use. */
export interface UsedContracts {
  /** What interpretation needs, even if a contract is archived by now. Without what the participant has pruned. */
  readonly disclosed: readonly DisclosedContract[];
  /** The offset of the archival of one of them. No attempt is committed after it. */
  readonly archivedAt?: Offset | undefined;
  /** The offset of the commit, if an earlier attempt was committed. */
  readonly committedAt?: Offset | undefined;
}

/** The times that a request sets, for which a participant holds an attempt. */
export type HeldTimes = Pick<CommandsRequest, 'minLedgerTimeAbs' | 'minLedgerTimeRel'>;

/**
 * What differs between signed and hosted submissions: the body of an attempt, what a code proves, and how a commit is found.
 */
export interface Strategy {
  readonly kind: Kind;
  readonly path: string;
  /** The format in which the caller wants the transaction, and the other parties whose events it has. */
  readonly format: TransactionFormat | null | undefined;
  readonly readAs: readonly string[];
  readonly held: HeldTimes;
  /** The submission id that the caller gives to the first attempt. It may not be unique. */
  readonly givenId?: string | undefined;
  /** Whether the format has names, which the participant looks up after the commit. */
  readonly hasNames: boolean;
  /** Whether the caller leaves the deduplication period to the library. */
  readonly isPeriodOpen: boolean;
  /** Whether the ledger refuses all commits of the change after the start as duplicates, with the requested period. */
  readonly isSinceStart: boolean;
  /**
   * How long before the first attempt the ledger also refuses them, in milliseconds, however far clocks are apart. `-Infinity` if it is
   * not certain.
   */
  readonly reachMs: number;
  /** Whether reading can show that nothing was committed. */
  readonly canSettle: boolean;
  /** Creates the body of an attempt. */
  readonly body: (run: Run, attempt: AttemptKey) => object;
  /** Before a change is sent again: proves that the ledger is the same, and emits its commit, or what its contracts show. */
  readonly prepareResend: (run: Run) => Observable<UsedContracts>;
  /** Emits the offset of the commit, if one request shows it. Completes otherwise, which proves nothing. */
  readonly lookUp: (run: Run, withinMs: number) => Observable<Offset>;
  /** Completes the transaction of a response, or emits it as it is. */
  readonly finish: (
    run: Run,
    named: Submission,
    isResent: boolean,
    transaction: SubmittedTransaction,
    withinMs: number,
  ) => Observable<SubmittedTransaction>;
  /** The contracts without which no attempt can be committed. */
  readonly inputs: (refusal: ApiError) => readonly string[];
  /** Whether an update may be the transaction of the change. */
  readonly isCandidate: (run: Run, update: Update) => boolean;
  /** Whether a candidate that decodes needs no completion to show that it is the change's own. */
  readonly isCertain: boolean;
}

/** Returns the submission id of the next attempt, and whether there was an earlier one. No two have the same id. */
export function nextId({ change: { submissionIds }, submission }: Run, create: () => string) {
  const isLater = submissionIds.size > 0;
  const submissionId = submissionIds.has(submission.submissionId) ? create() : submission.submissionId;
  submissionIds.add(submissionId);
  return { submissionId, isLater };
}

/** Returns a random UUID, version 4. Pages loaded over plain HTTP lack `crypto.randomUUID`. */
export const randomUuid = (): string =>
  (crypto as Partial<Pick<Crypto, 'randomUUID'>>).randomUUID?.() ?? uuidOf(crypto.getRandomValues(new Uint8Array(31)));

function uuidOf(random: Uint8Array): string {
  const bytes = random.values();
  // x is any digit; y, the variant, is one of 8, 9, a and b
  return 'xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx'.replace(/[xy]/g, (digit) => {
    const digits = (bytes.next().value ?? 0) % 16;
    return (digit === 'x' ? digits : 8 + (digits % 4)).toString(16);
  });
}
