import type { SchedulerLike } from 'rxjs';
import { requestError, type WireCantonError } from '../errors.js';
import type { Ledger } from '../ledger/Ledger.js';
import { laterFields, type ReadContext } from '../ledger/visible.js';
import type { DeduplicationPeriod } from '../requests/decode.js';
import type { Effect } from '../submission/effects.js';
import { parseMicros } from '../wire/values.js';
import { updateValue, type WireTraceContext } from '../wire/WireUpdate.js';
import type { Settings } from './Settings.js';

/** A submission that has been interpreted and routed: what the participant registers, and then commits or rejects. */
export interface Submission extends SubmissionIds {
  readonly workflowId: string;
  readonly synchronizerId: string;
  readonly effects: readonly Effect[];
  readonly period: DeduplicationPeriod;
  /** In microseconds since the epoch. */
  readonly minLedgerTime: number | undefined;
  /** The number of bytes, which determine the traffic cost. */
  readonly size: number;
  /** The hash of a prepared transaction. */
  readonly hash?: Buffer;
}

/** What a completion shows of its submission. */
export interface SubmissionIds {
  readonly commandId: string;
  readonly userId: string;
  readonly submissionId: string;
  readonly actAs: readonly string[];
  readonly trace: Trace;
}

/** The trace of a request: from its headers, or a new one. */
export interface Trace {
  readonly id: string;
  readonly context: WireTraceContext;
}

/** Identifies a change: by its user, the set of its acting parties, and its command id. */
export const changeIdOf = ({ userId, actAs, commandId }: SubmissionIds): string =>
  JSON.stringify([userId, [...new Set(actAs)].sort(), commandId]);

/** The period in a completion. Participants report durations as offsets, too. */
export const reportedOffset = (period: DeduplicationPeriod): number =>
  'afterOffset' in period ? period.afterOffset : 0;

/** The end of a submission that was registered, its commit or its rejection, in the order of the ledger. */
export interface Completion {
  readonly submission: SubmissionIds;
  /** The id of the committed update, or the error. */
  readonly outcome: string | WireCantonError;
  readonly offset: number;
  /** Absent for reassignments, which have no deduplication. */
  readonly deduplicationOffset?: number;
  readonly synchronizerId: string;
  readonly recordTime: string;
  readonly paidTrafficCost: number;
  /** Whether the participant no longer recognizes a repetition, because it was restored. */
  readonly isForgotten?: boolean;
  /** The hash of the committed transaction, in base64. */
  readonly hash?: string;
  /** The time of the completion, in milliseconds since the epoch. */
  readonly at: number;
}

/** The completions in the order of their offsets, and the last commit of each change. */
export class Completions {
  #all: Completion[] = [];
  readonly #accepted = new Map<string, Completion>();
  readonly #byHash = new Map<string, Completion>();

  constructor(private readonly scheduler: SchedulerLike) {}

  /** Rejects a change whose last commit is within the deduplication period. Earlier rejections do not count. */
  checkDuplicate(submission: Submission, { ledger, settings }: ReadContext): void {
    const { period } = submission;
    const changeId = changeIdOf(submission);
    const earlier = this.#accepted.get(changeId);
    if (earlier !== undefined && !isForgotten(earlier)) {
      if (isWithin(period, earlier, ledger.now())) throw duplicateCommand(earlier, changeId);
      return;
    }
    if (!reachesIntoPruned(period, ledger)) return;
    const cause = 'The specified deduplication period starts before the pruned offset';
    const context = { earliest_offset: String(ledger.pruned), definite_answer: 'true' };
    throw requestError('INVALID_DEDUPLICATION_PERIOD', cause, { context });

    /** A commit is forgotten when it is pruned, unless the default period still needs it. */
    function isForgotten({ offset, at }: Completion): boolean {
      return offset <= ledger.pruned && ledger.now() - at >= settings.defaultDeduplicationMs;
    }
  }

  /** Finds the commit of a transaction, also if the same change was committed again later. */
  findByHash(hash: string): Completion | undefined {
    return this.#byHash.get(hash);
  }

  /** The completions after an offset, up to another. */
  between(above: number, upTo: number): readonly Completion[] {
    return this.#all.filter(({ offset }) => offset > above && offset <= upTo);
  }

  add(completion: Omit<Completion, 'at'>): void {
    this.keep({ ...completion, at: this.scheduler.now() });
  }

  /** Adds the completion of a commit that is read again, at its new offset. */
  readAgain(completion: Completion, offset: number): void {
    this.keep({ ...completion, offset });
  }

  /** Removes the completions after a backup, and returns them. */
  restore(ledgerEnd: number): readonly Completion[] {
    const [kept, removed] = [this.between(0, ledgerEnd), this.between(ledgerEnd, Infinity)];
    this.#all = [];
    this.#accepted.clear();
    this.#byHash.clear();
    for (const completion of kept) this.keep(completion);
    return removed;
  }

  private keep(completion: Completion): void {
    const { outcome, deduplicationOffset, submission, hash, isForgotten = false } = completion;
    this.#all.push(completion);
    if (typeof outcome !== 'string' || deduplicationOffset === undefined || isForgotten) return;
    this.#accepted.set(changeIdOf(submission), completion);
    if (hash !== undefined) this.#byHash.set(hash, completion);
  }
}

const isWithin = (period: DeduplicationPeriod, { offset, at }: Completion, now: number): boolean =>
  'afterOffset' in period ? offset > period.afterOffset : now - at < period.ms;

function reachesIntoPruned(period: DeduplicationPeriod, ledger: Ledger): boolean {
  if ('afterOffset' in period) return period.afterOffset < ledger.pruned;
  const lastPruned = ledger.updates[ledger.indexAfter(ledger.pruned) - 1];
  if (period.isDefault || lastPruned === undefined) return false;
  return parseMicros(updateValue(lastPruned).recordTime) > (ledger.now() - period.ms) * 1000;
}

function duplicateCommand({ offset, submission }: Completion, changeId: string) {
  return requestError('DUPLICATE_COMMAND', 'Command submission already exists.', {
    context: {
      completion_offset: String(offset),
      existingSubmissionId: `Some(${submission.submissionId})`,
      accepted: 'true',
      definite_answer: 'true',
      changeId,
    },
  });
}

/**
 * The wire form of a completion.
 *
 * @param actAs - the acting parties that the request selects
 */
export function completionValue(
  { submission, outcome, offset, deduplicationOffset, hash, ...completion }: Completion,
  actAs: readonly string[],
  { profile }: Settings,
): object {
  const { commandId, userId, submissionId, trace } = submission;
  const { synchronizerId, recordTime, paidTrafficCost } = completion;
  return {
    commandId,
    status: typeof outcome === 'string' ? { code: 0, message: '', details: [] } : statusOf(outcome, trace.id),
    updateId: typeof outcome === 'string' ? outcome : '',
    userId,
    actAs,
    submissionId,
    deduplicationPeriod:
      deduplicationOffset === undefined ? { Empty: {} } : { DeduplicationOffset: { value: deduplicationOffset } },
    traceContext: trace.context,
    offset,
    synchronizerTime: { synchronizerId, recordTime },
    paidTrafficCost,
    transactionHash: hash,
    ...laterFields(profile),
  };
}

/** The status of a rejected submission: the error with its details. */
function statusOf({ code, cause, context, resources, errorCategory, grpcCodeValue }: WireCantonError, traceId: string) {
  const info = { reason: code, domain: '', metadata: context };
  const named = resources.map(([resourceType, resourceName]) =>
    detail('ResourceInfo', { resourceType, resourceName, owner: '', description: '' }),
  );
  return {
    code: grpcCodeValue ?? 2,
    message: `${code}(${errorCategory},${traceId.slice(0, 8)}): ${cause}`,
    details: [detail('ErrorInfo', info), ...named],
  };
}

/** A detail in its decoded form only. Clients do not read the bytes. */
const detail = (type: string, content: object) => ({
  typeUrl: `type.googleapis.com/google.rpc.${type}`,
  value: '',
  valueDecoded: { ...content, unknownFields: { fields: {} } },
  unknownFields: { fields: {} },
});
