import type { Observable } from 'rxjs';
import type { SynchronizerTime, TraceContext } from '../codecs/OffsetCheckpoint.js';
import type { Offset } from '../codecs/scalars.js';
import type { Diagnostic } from '../diagnostics/Diagnostic.js';

/**
 * Sees what a ledger does: requests and sockets; feeds, the handlers of processors, submissions and other reads. It may add
 * headers and a context around a call. It cannot change a result, and its errors are ignored, also those
 * of asynchronous methods.
 *
 * Each method is called when such a call begins, and returns what to add, or nothing. What it gets has no token, header or
 * payload. Pass interceptors to `createLedger`: the first one is the outermost.
 *
 * @example
 * ```ts
 * import { createLedger, type Interceptor } from 'canton-rx';
 *
 * const correlation: Interceptor = {
 *   request: () => ({ headers: { 'x-correlation-id': crypto.randomUUID() } }),
 * };
 * const ledger = createLedger({ baseUrl: 'http://127.0.0.1:7575', interceptors: [correlation] });
 * ```
 * @category Ledger
 */
export interface Interceptor extends InterceptedParts {
  /**
   * Returns the interceptor of one ledger, if it keeps something for each. `createLedger` calls it once. Default: the
   * interceptor itself.
   */
  forLedger?(ledger: LedgerInfo): Interceptor;
  /** Is called when `updates`, `completions`, contracts or the run of a processor are subscribed to. */
  feed?(call: FeedCall): FeedInterception | undefined;
  /** Is called when a submission is subscribed to. It lasts until its outcome, over all attempts. */
  submission?(call: SubmissionCall): OperationInterception<SubmissionOutcome> | undefined;
  /** Is called when any other method of the ledger is subscribed to. */
  read?(call: ReadCall): OperationInterception<Outcome> | undefined;
}

/**
 * What an interceptor adds to a call. Each field is optional.
 *
 * @category Ledger
 */
export interface Interception<O = Outcome> {
  /**
   * Calls `work` in a context: it begins the call, or unsubscribes from it. Must call it at once; otherwise the ledger does so
   * itself.
   */
  run?(work: () => void): void;
  /** Calls `deliver` in a context: it passes a result, an error or the completion to the subscriber. As for `run`. */
  emit?(deliver: () => void): void;
  /** Is called once with the outcome, before the subscriber receives it. */
  end?(outcome: O): void;
}

/**
 * The parts of which calls consist.
 *
 * @inline
 */
export interface InterceptedParts {
  /** Is called for each request, with each token. */
  request?(call: RequestCall): (Interception<RequestOutcome> & AddedHeaders) | undefined;
  /** Is called for each WebSocket. Its outcome is whether it was opened. */
  socket?(call: SocketCall): (Interception & AddedHeaders) | undefined;
  /** Is called for each call of a processor's handler. `run` also subscribes to the Observable that the handler returns. */
  handler?(call: HandlerCall): Interception | undefined;
  /** Receives each diagnostic, before the subscribers of `diagnostics$`. */
  report?(diagnostic: Diagnostic): void;
}

/**
 * What is added to an operation: for its parts, in place of the methods of the interceptor.
 *
 * @inline
 */
export interface OperationInterception<O> extends Interception<O>, InterceptedParts {
  /**
   * Ends the operation when it emits: it is unsubscribed, emits nothing more, and does not complete. The subscriber gets its
   * error. For programs whose parts end separately. A submission that was sent may be committed.
   */
  readonly until$?: Observable<unknown> | undefined;
}

/**
 * What is added to a feed.
 *
 * @inline
 */
export interface FeedInterception extends OperationInterception<Outcome> {
  /** Is called for each update or completion, or for each commit of a processor, before the subscriber receives it. */
  next?(progress: FeedProgress): void;
}

/**
 * Headers to add.
 *
 * @inline
 */
interface AddedHeaders {
  /** They do not replace headers that the request has. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/**
 * A ledger, to an interceptor.
 *
 * @inline
 */
export interface LedgerInfo {
  /** The address of the last request; `undefined` before the first one if there are several. */
  readonly address: string | undefined;
  /**
   * Repeats the requests that wait after a transient failure: each within a second, unless the participant has requested a longer
   * delay. Their back-off begins again. For example when the network is back.
   */
  retryNow(): void;
}

/**
 * A request.
 *
 * @inline
 */
export interface RequestCall {
  /** The method of HTTP. */
  readonly method: 'GET' | 'POST';
  /** The path of the API, without the prefix of the address. */
  readonly path: string;
  /** The whole address, with the query. */
  readonly url: string;
  /** The range of a page of a feed. */
  readonly range?: RequestedRange | undefined;
}

/**
 * The range of a page of a feed.
 *
 * @inline
 */
export interface RequestedRange {
  /** The offset after which it begins. */
  readonly beginExclusive: Offset;
  /** The offset at which it ends, if it has an end. */
  readonly endInclusive?: Offset | undefined;
  /** The maximum number of elements. */
  readonly limit: number;
  /** How long the participant waits for an element, in milliseconds; only in requests without an end. */
  readonly idleTimeoutMs?: number | undefined;
}

/**
 * A WebSocket.
 *
 * @inline
 */
export interface SocketCall {
  /** The path of the API. */
  readonly path: string;
  /** The whole address. */
  readonly url: string;
}

/**
 * A subscription of a feed.
 *
 * @inline
 */
export interface FeedCall {
  /** What it reads. */
  readonly kind: 'updates' | 'completions' | 'contracts';
  /** The offset after which it begins. Absent for contracts and for processors, which begin where they ended. */
  readonly beginExclusive?: Offset | undefined;
  /** Whether it continues until it is unsubscribed. */
  readonly isEndless: boolean;
  /** The processor that reads it, if one does. Its name is absent if it has no store. */
  readonly processor?: { readonly name: string | undefined } | undefined;
}

/**
 * A submission.
 *
 * @inline
 */
export interface SubmissionCall extends Submitter {
  /** The method of the ledger. */
  readonly method: 'submit' | 'submitAndWaitForTransaction' | 'executeAndWaitForTransaction';
  /** The command id; absent if each subscription has its own, or if only the signed bytes have it. */
  readonly commandId?: string | undefined;
}

/**
 * The work of the library that submits.
 *
 * @inline
 */
export interface Submitter {
  /** The action of a rule of `automate` that it is. */
  readonly action?: RuleAction | undefined;
  /** The name of the outbox that sends it. */
  readonly outbox?: string | undefined;
}

/**
 * The action of a rule.
 *
 * @inline
 */
export interface RuleAction {
  /** The name of the rule. */
  readonly rule: string;
  /** The contract that it acts on. */
  readonly contractId: string;
  /** The trace in which the contract was created, if it is known. */
  readonly traceContext?: TraceContext | undefined;
}

/**
 * A call of another method of the ledger.
 *
 * @inline
 */
export interface ReadCall {
  /** The method of the ledger. */
  readonly method: 'ledgerEnd' | 'offsetAt' | 'parties' | 'prepare';
}

/**
 * A call of a handler.
 *
 * @inline
 */
export interface HandlerCall {
  /** The name of the processor, if it has one. */
  readonly processor?: string | undefined;
  /** What the handler gets. */
  readonly items: readonly FeedProgress[];
  /** Whether the handler gets them as a batch. */
  readonly isBatch: boolean;
}

/**
 * What a feed has emitted, or a processor has committed, without its content.
 *
 * @inline
 */
export interface FeedProgress {
  /** The kind of an update; `'Committed'` for a commit. */
  readonly _tag: string;
  /** The offset. */
  readonly offset: Offset;
  /** The ID of the update, if it has one. */
  readonly updateId?: string | undefined;
  /** The record times up to which was read, by synchronizer; those of an update. */
  readonly recordTimes: readonly SynchronizerTime[];
  /** The trace in which an update was submitted, if it is known. */
  readonly traceContext?: TraceContext | undefined;
  /** The role of the processor; absent if it holds its name. */
  readonly role?: string | undefined;
}

/**
 * How a call ended: with a result, with an error, without either, or because it was unsubscribed.
 *
 * @inline
 */
export interface Outcome {
  /** How it ended. A feed never succeeds: it completes. */
  readonly how: 'succeeded' | 'failed' | 'completed' | 'unsubscribed';
  /** The error. */
  readonly error?: unknown;
}

/**
 * How a request ended.
 *
 * @inline
 */
export interface RequestOutcome extends Outcome, AnswerSummary {
  /** The status of the response, if there was one. */
  readonly status?: number | undefined;
  /** How long it took until the response, or until it failed, in milliseconds. */
  readonly durationMs: number;
}

/**
 * What an answer has.
 *
 * @inline
 */
export interface AnswerSummary {
  /** The number of elements of a page. */
  readonly count?: number | undefined;
  /** The offset of the last element of a page, or the ledger end. */
  readonly lastOffset?: Offset | undefined;
}

/**
 * How a submission ended.
 *
 * @inline
 */
export interface SubmissionOutcome extends Outcome {
  /** The transaction, if it is committed. */
  readonly transaction?:
    | { readonly updateId: string; readonly offset: Offset; readonly traceContext?: TraceContext | undefined }
    | undefined;
}
