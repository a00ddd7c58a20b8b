import { asyncScheduler, delay, map, NEVER, Observable, of, ReplaySubject, switchMap, throwError, timer } from 'rxjs';
import { ResponseTooLargeError } from '../../src/errors/request.js';
import type { Reply, ServiceRequest } from './scripted.js';
import {
  byOffsetPath,
  completionPath,
  endPath,
  executePath,
  immediateErrors,
  type Loss,
  lossReplies,
  type SubmissionFault,
  type SubmissionPlan,
} from './submissionPlan.js';
import { VirtualLedger } from './virtualLedger.js';
import {
  errorBody,
  errorReply,
  notFound,
  ok,
  refusedConnection,
  transaction,
  transactionValue,
  transactionWith,
} from './wire.js';

export interface Commit {
  readonly change: string;
  readonly offset: number;
  readonly at: number;
  /** The time at which the committed request was sent. */
  readonly sentAt: number;
}

const week = 7 * 24 * 3_600_000;

/** A participant in virtual time that commits submissions, once per change within the deduplication period. */
export class VirtualParticipant {
  readonly commits: Commit[] = [];
  readonly ledger: VirtualLedger;
  /** The execute requests. */
  readonly executed: { readonly at: number; readonly body: ServiceRequest['body'] }[] = [];
  /** The number of execute requests that got a 401. */
  unauthorized = 0;
  /** The end of the last known fault. */
  faultUntil = 0;
  private reads = 0;
  private sequenced = 0;
  private readonly inFlight = new Set<string>();

  constructor(private readonly plan: SubmissionPlan) {
    this.ledger = new VirtualLedger({ latencyMs: plan.latencyMs });
    this.ledger.append(10, transaction(10));
  }

  /** Commits transactions of other clients. */
  commitOthers(count: number): void {
    for (let i = 0; i < count; i++) this.ledger.append(this.ledger.end + 1, transaction(this.ledger.end + 1));
  }

  /** The replies for `scriptedService`. */
  readonly reply = (request: ServiceRequest): Observable<Reply> => {
    const now = asyncScheduler.now();
    const isExecute = request.path === executePath;
    if (isExecute) this.executed.push({ at: now, body: request.body });
    const { down, faults, readFaults } = this.plan;
    if (down !== null && now >= down.fromMs && now < down.fromMs + down.forMs)
      return this.trackFault(this.downReply(down.how));
    if (request.path === endPath) return this.end(request);
    const count = isExecute ? this.executed.length : (this.reads += 1);
    const fault = (isExecute ? faults : readFaults)[count - 1] ?? undefined;
    const process = (): Observable<Reply> =>
      timer(this.plan.latencyMs).pipe(
        switchMap(() => (isExecute ? this.receive(request, now, fault) : this.read(request))),
      );
    return fault === undefined ? process() : this.trackFault(this.applyFault(fault, request, process));
  };

  private end(request: ServiceRequest): Observable<Reply> {
    switch (this.plan.ledgerEnd) {
      case 'served':
        return this.ledger.reply(request);
      case 'gone':
        return of(notFound).pipe(delay(this.plan.latencyMs));
      case 'silent':
        return NEVER;
      case 'slow':
        return this.ledger.reply(request).pipe(delay(4_000));
    }
  }

  private downReply(how: Loss | 'refused' | '404'): Observable<Reply> {
    if (how === 'refused') return throwError(() => refusedConnection);
    if (how === '404') return of(notFound);
    return lossReply(how, this.plan.latencyMs);
  }

  private applyFault(
    fault: SubmissionFault,
    request: ServiceRequest,
    process: () => Observable<Reply>,
  ): Observable<Reply> {
    switch (fault.kind) {
      case 'refused':
        return throwError(() => refusedConnection);
      case 'answered':
        if (fault.how === 'unauthorized' && request.path === executePath) this.unauthorized += 1;
        return of(immediateErrors[fault.how]).pipe(delay(this.plan.latencyMs));
      case 'lost':
        if (fault.isReceived) void this.runToEnd(process());
        return lossReply(fault.how, fault.afterMs);
      case 'held':
        void this.runToEnd(timer(fault.ms).pipe(switchMap(process)));
        return NEVER;
      case 'garbled': {
        // processed even if no client waits for the reply
        const answer$ = this.runToEnd(process());
        return answer$.pipe(map((reply) => garble(reply, fault.how)));
      }
      case 'contention':
      case 'elsewhere':
        return process();
    }
  }

  /** Subscribes without end: a received request is processed even if its client disconnects. */
  private runToEnd(reply$: Observable<Reply>): Observable<Reply> {
    const answer$ = new ReplaySubject<Reply>(1);
    reply$.subscribe(answer$);
    return answer$;
  }

  /** Records the end of a fault. */
  private trackFault(reply$: Observable<Reply>): Observable<Reply> {
    return new Observable((subscriber) => {
      const subscription = reply$.subscribe(subscriber);
      return () => {
        subscription.unsubscribe();
        this.faultUntil = Math.max(this.faultUntil, asyncScheduler.now());
      };
    });
  }

  private receive({ body }: ServiceRequest, sentAt: number, fault: SubmissionFault | undefined): Observable<Reply> {
    const { isForged, expiresAtMs, commitMs, disconnected } = this.plan;
    const now = asyncScheduler.now();
    const change = JSON.stringify([body['userId'], body['preparedTransaction']]);
    if (isForged) return of(errorReply(400, errorBody('FAILED_TO_EXECUTE_TRANSACTION', 8)));
    if (disconnected !== null && now >= disconnected.fromMs && now < disconnected.fromMs + disconnected.forMs)
      return this.trackFault(of(errorReply(400, errorBody('NOT_CONNECTED_TO_SYNCHRONIZER', 9))));
    if (fault?.kind === 'elsewhere' && this.inFlight.has(change))
      return of(errorReply(409, errorBody('LOCAL_VERDICT_LOCKED_CONTRACTS', 2)));
    if (fault?.kind === 'elsewhere' && this.commits.length > 0)
      return of(errorReply(404, errorBody('LOCAL_VERDICT_INACTIVE_CONTRACTS', 11)));
    if (this.inFlight.has(change)) return of(errorReply(409, errorBody('SUBMISSION_ALREADY_IN_FLIGHT', 2)));
    const duplicate = this.commits.findLast((commit) => commit.change === change && isWithin(commit, body, now));
    if (duplicate !== undefined)
      return of(
        errorReply(
          409,
          errorBody('DUPLICATE_COMMAND', 10, { completion_offset: String(duplicate.offset), definite_answer: 'true' }),
        ),
      );
    const takesMs = commitMs[Math.min(this.sequenced, commitMs.length - 1)] ?? 0;
    this.sequenced += 1;
    this.inFlight.add(change);
    this.faultUntil = Math.max(this.faultUntil, now + takesMs);
    const isExpired = expiresAtMs !== null && now >= expiresAtMs;
    return this.runToEnd(
      timer(takesMs).pipe(
        map(() => {
          this.inFlight.delete(change);
          if (isExpired) return errorReply(409, errorBody('LOCAL_VERDICT_PREPARATION_TIME_OUT_OF_BOUND', 2));
          if (fault?.kind === 'contention') return errorReply(409, errorBody('LOCAL_VERDICT_LOCKED_CONTRACTS', 2));
          return this.commit(change, sentAt);
        }),
      ),
    );
  }

  private commit(change: string, sentAt: number): Reply {
    const offset = this.ledger.end + 1;
    this.commits.push({ change, offset, at: asyncScheduler.now(), sentAt });
    this.ledger.append(offset, transactionWith(offset, { externalTransactionHash: submittedHash.toString('hex') }));
    return ok({ transaction: transactionValue(offset) });
  }

  private completion(): Reply {
    const [commit] = this.commits;
    if (this.plan.completions === 'gone') return notFound;
    return commit === undefined
      ? errorReply(404, errorBody('COMPLETION_NOT_FOUND', 11))
      : ok({ acceptedCompletion: { offset: commit.offset }, lastRejectedCompletions: [] });
  }

  private read(request: ServiceRequest): Observable<Reply> {
    if (request.path === completionPath) return of(this.completion());
    if (request.path !== byOffsetPath) return this.ledger.reply(request);
    if (this.plan.byOffset === 'gone') return of(notFound);
    const offset = Number(request.body['offset']);
    const isThere = this.ledger.between(offset - 1, offset).length > 0;
    return of(isThere ? ok(transaction(offset)) : errorReply(404, errorBody('UPDATE_NOT_FOUND', 11)));
  }
}

/** The hash of every submission. */
export const submittedHash = Buffer.alloc(32, 0xab);

/** The reply in place of a lost one, after a while; none for silence. */
function lossReply(how: Loss, afterMs: number): Observable<Reply> {
  const reply = lossReplies[how];
  return reply === undefined ? NEVER : of(reply).pipe(delay(afterMs));
}

function garble(reply: Reply, how: 'cut' | 'undecodable' | 'huge'): Reply {
  if (reply instanceof Error) return reply;
  if (how === 'huge') return new ResponseTooLargeError('', 1);
  if (reply.status !== 200) return reply;
  if (how === 'undecodable') return ok({ transaction: { offset: 'here' } });
  return { ...reply, text: reply.text.slice(0, reply.text.length / 2) };
}

/** A deduplication period as requests have it; neither field means the longest. */
interface Period {
  readonly DeduplicationOffset?: { readonly value: number };
  readonly DeduplicationDuration?: { readonly value: { readonly seconds: number; readonly nanos?: number | null } };
}

/** Whether a commit is within the deduplication period of a request. */
function isWithin({ at, offset }: Commit, { deduplicationPeriod }: ServiceRequest['body'], now: number): boolean {
  if (typeof deduplicationPeriod !== 'object' || deduplicationPeriod === null) return false;
  const { DeduplicationOffset: after, DeduplicationDuration: duration } = deduplicationPeriod as Period;
  if (after !== undefined) return offset > after.value;
  if (duration === undefined) return now - at <= week;
  return now - at <= duration.value.seconds * 1_000 + (duration.value.nanos ?? 0) / 1e6;
}
