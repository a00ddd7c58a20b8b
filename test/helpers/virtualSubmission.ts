import { asyncScheduler, delay, map, NEVER, Observable, of, ReplaySubject, switchMap, throwError, timer } from 'rxjs';
import { AnswerTooLargeError } from '../../src/errors/request.js';
import { canton, failed, notFound, ok, type Asked, type Reply } from './scripted.js';
import { VirtualLedger } from './virtualLedger.js';
import { transaction } from './wire.js';

export const executePath = '/v2/interactive-submission/executeAndWaitForTransaction';
export const byOffsetPath = '/v2/updates/update-by-offset';
export const endPath = '/v2/state/ledger-end';

/** Answers that are given before anything is done. */
export const refusals = {
  unauthorized: failed(401, canton('NA', -1)),
  'back-pressure': failed(409, canton('PARTICIPANT_BACKPRESSURE', 2)),
  'back-pressure with a wait': failed(409, canton('SEQUENCER_BACKPRESSURE', 2), { 'retry-after': '2' }),
  'rate limit': failed(429, 'slow down'),
  'not running': failed(503, canton('SERVICE_NOT_RUNNING', 1)),
  'bad gateway': failed(502, '<html>Bad Gateway</html>'),
  'no such path': notFound,
  forbidden: failed(403, 'not through this gateway'),
} as const;

/** Answers, or none, in place of the one that was on its way. */
export const losses = {
  reset: Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' }),
  silence: undefined,
  '503 text': failed(503, 'The server was not able to produce a timely response to your request.'),
  '504': failed(504, canton('REQUEST_TIME_OUT', 3)),
  '500': failed(500, canton('NA', -1)),
  '502': failed(502, '<html>Bad Gateway</html>'),
} as const;

export type Refusal = keyof typeof refusals;
export type Loss = keyof typeof losses;

/** What goes wrong with one request. */
export type SubmissionFault =
  /** No connection. */
  | { readonly kind: 'refused' }
  | { readonly kind: 'answered'; readonly how: Refusal }
  /** Lost on the way there, or with its answer; the answer comes after a while, whatever is done meanwhile. */
  | { readonly kind: 'lost'; readonly isReceived: boolean; readonly how: Loss; readonly afterMs: number }
  /** Done, and answered with what cannot be read. */
  | { readonly kind: 'garbled'; readonly how: 'cut' | 'undecodable' | 'huge' }
  /** Sequenced, and rejected for now: another transaction holds the contracts. */
  | { readonly kind: 'contention' }
  /** Held back by something between, received long after, and not answered. */
  | { readonly kind: 'held'; readonly ms: number };

/** What a participant is like. */
export interface SubmissionPlan {
  readonly latencyMs: number;
  /** How long a submission takes from its receipt to its commit, by the number of the commit or contention; the last goes on. */
  readonly commitMs: readonly number[];
  /** By the number of the execute request; none for later ones. */
  readonly faults: readonly (SubmissionFault | null)[];
  /** By the number of the request that reads back. */
  readonly readFaults: readonly (SubmissionFault | null)[];
  readonly down: { readonly fromMs: number; readonly forMs: number; readonly how: Loss | 'refused' | '404' } | null;
  readonly byOffset: 'served' | 'gone';
  readonly ledgerEnd: 'told' | 'gone' | 'silent' | 'slow';
  /** While the participant is cut off from the synchronizer it refuses what comes; what has been sequenced is committed. */
  readonly disconnected: { readonly fromMs: number; readonly forMs: number } | null;
  readonly isForged: boolean;
  readonly expiresAtMs: number | null;
}

export interface Commit {
  readonly change: string;
  readonly offset: number;
  readonly at: number;
  /** When the request was sent that it was committed for. */
  readonly sentAt: number;
}

const week = 7 * 24 * 3_600_000;

const refusedConnection = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

/** A participant in the test's time that commits what is submitted to it, once per change within the period that is asked for. */
export class VirtualParticipant {
  readonly commits: Commit[] = [];
  readonly ledger: VirtualLedger;
  /** The execute requests. */
  readonly executed: { readonly at: number; readonly body: Asked['body'] }[] = [];
  /** How many of them were answered with 401. */
  unauthorized = 0;
  /** Until when something was wrong, as far as is known. */
  troubleUntil = 0;
  private reads = 0;
  private sequenced = 0;
  private readonly inFlight = new Set<string>();

  constructor(private readonly plan: SubmissionPlan) {
    this.ledger = new VirtualLedger({ latencyMs: plan.latencyMs });
    this.ledger.append(10, transaction(10));
  }

  /** What others commit. */
  others(count: number): void {
    for (let i = 0; i < count; i++) this.ledger.append(this.ledger.end + 1, transaction(this.ledger.end + 1));
  }

  /** For `scripted`. */
  readonly answer = (asked: Asked): Observable<Reply> => {
    const now = asyncScheduler.now();
    const isExecute = asked.path === executePath;
    if (isExecute) this.executed.push({ at: now, body: asked.body });
    const { down, faults, readFaults } = this.plan;
    if (down !== null && now >= down.fromMs && now < down.fromMs + down.forMs)
      return this.troubled(this.whileDown(down.how));
    if (asked.path === endPath) return this.end(asked);
    const number = isExecute ? this.executed.length : (this.reads += 1);
    const fault = (isExecute ? faults : readFaults)[number - 1] ?? undefined;
    const honest = (): Observable<Reply> =>
      timer(this.plan.latencyMs).pipe(
        switchMap(() => (isExecute ? this.receive(asked, now, fault) : this.read(asked))),
      );
    return fault === undefined ? honest() : this.troubled(this.inflict(fault, asked, honest));
  };

  private end(asked: Asked): Observable<Reply> {
    switch (this.plan.ledgerEnd) {
      case 'told':
        return this.ledger.answer(asked);
      case 'gone':
        return of(notFound).pipe(delay(this.plan.latencyMs));
      case 'silent':
        return NEVER;
      case 'slow':
        return this.ledger.answer(asked).pipe(delay(4_000));
    }
  }

  private whileDown(how: Loss | 'refused' | '404'): Observable<Reply> {
    if (how === 'refused') return throwError(() => refusedConnection);
    if (how === '404') return of(notFound);
    return lost(how, this.plan.latencyMs);
  }

  private inflict(fault: SubmissionFault, asked: Asked, honest: () => Observable<Reply>): Observable<Reply> {
    switch (fault.kind) {
      case 'refused':
        return throwError(() => refusedConnection);
      case 'answered':
        if (fault.how === 'unauthorized' && asked.path === executePath) this.unauthorized += 1;
        return of(refusals[fault.how]).pipe(delay(this.plan.latencyMs));
      case 'lost':
        if (fault.isReceived) void this.keepOn(honest());
        return lost(fault.how, fault.afterMs);
      case 'held':
        void this.keepOn(timer(fault.ms).pipe(switchMap(honest)));
        return NEVER;
      case 'garbled': {
        // it is done also where nobody waits for the answer
        const answer$ = this.keepOn(honest());
        return answer$.pipe(map((reply) => garbled(reply, fault.how)));
      }
      case 'contention':
        return honest();
    }
  }

  /** Subscribes for good: what has been sent is done whether its sender waits or not. */
  private keepOn(reply$: Observable<Reply>): Observable<Reply> {
    const answer$ = new ReplaySubject<Reply>(1);
    reply$.subscribe(answer$);
    return answer$;
  }

  /** Keeps in mind until when something is wrong. */
  private troubled(reply$: Observable<Reply>): Observable<Reply> {
    return new Observable((subscriber) => {
      const subscription = reply$.subscribe(subscriber);
      return () => {
        subscription.unsubscribe();
        this.troubleUntil = Math.max(this.troubleUntil, asyncScheduler.now());
      };
    });
  }

  private receive({ body }: Asked, sentAt: number, fault: SubmissionFault | undefined): Observable<Reply> {
    const { isForged, expiresAtMs, commitMs, disconnected } = this.plan;
    const now = asyncScheduler.now();
    const change = JSON.stringify([body['userId'], body['preparedTransaction']]);
    if (isForged) return of(failed(400, canton('FAILED_TO_EXECUTE_TRANSACTION', 8)));
    if (disconnected !== null && now >= disconnected.fromMs && now < disconnected.fromMs + disconnected.forMs)
      return this.troubled(of(failed(400, canton('NOT_CONNECTED_TO_SYNCHRONIZER', 9))));
    if (this.inFlight.has(change)) return of(failed(409, canton('SUBMISSION_ALREADY_IN_FLIGHT', 2)));
    const earlier = this.commits.findLast((commit) => commit.change === change && isWithin(commit, body, now));
    if (earlier !== undefined)
      return of(
        failed(
          409,
          canton('DUPLICATE_COMMAND', 10, { completion_offset: String(earlier.offset), definite_answer: 'true' }),
        ),
      );
    const takesMs = commitMs[Math.min(this.sequenced, commitMs.length - 1)] ?? 0;
    this.sequenced += 1;
    this.inFlight.add(change);
    this.troubleUntil = Math.max(this.troubleUntil, now + takesMs);
    const isExpired = expiresAtMs !== null && now >= expiresAtMs;
    return this.keepOn(
      timer(takesMs).pipe(
        map(() => {
          this.inFlight.delete(change);
          if (isExpired) return failed(409, canton('LOCAL_VERDICT_PREPARATION_TIME_OUT_OF_BOUND', 2));
          if (fault?.kind === 'contention') return failed(409, canton('LOCAL_VERDICT_LOCKED_CONTRACTS', 2));
          return this.commit(change, sentAt);
        }),
      ),
    );
  }

  private commit(change: string, sentAt: number): Reply {
    const offset = this.ledger.end + 1;
    this.commits.push({ change, offset, at: asyncScheduler.now(), sentAt });
    this.ledger.append(offset, transaction(offset));
    return ok({ transaction: valueOf(offset) });
  }

  private read(asked: Asked): Observable<Reply> {
    if (asked.path !== byOffsetPath) return this.ledger.answer(asked);
    if (this.plan.byOffset === 'gone') return of(notFound);
    const offset = Number(asked.body['offset']);
    const isThere = this.ledger.between(offset - 1, offset).length > 0;
    return of(isThere ? ok(transaction(offset)) : failed(404, canton('UPDATE_NOT_FOUND', 11)));
  }
}

/** An answer, or a failure of the connection, after a while; nothing at all where it is silence. */
function lost(how: Loss, afterMs: number): Observable<Reply> {
  const reply = losses[how];
  return reply === undefined ? NEVER : of(reply).pipe(delay(afterMs));
}

function garbled(reply: Reply, how: 'cut' | 'undecodable' | 'huge'): Reply {
  if (reply instanceof Error) return reply;
  if (how === 'huge') return new AnswerTooLargeError('', 1);
  if (reply.status !== 200) return reply;
  if (how === 'undecodable') return ok({ transaction: { offset: 'here' } });
  return { ...reply, text: reply.text.slice(0, reply.text.length / 2) };
}

/** What the wire has of a transaction, without its envelope. */
export function valueOf(offset: number): unknown {
  const wrapped: unknown = Reflect.get(transaction(offset), 'update');
  const variant: unknown = isObject(wrapped) ? Reflect.get(wrapped, 'Transaction') : undefined;
  return valueIn(variant);
}

const isObject = (u: unknown): u is object => typeof u === 'object' && u !== null;

/** Whether the deduplication period of a request reaches back to a commit. */
function isWithin({ at, offset }: Commit, { deduplicationPeriod }: Asked['body'], now: number): boolean {
  if (!isObject(deduplicationPeriod)) return false;
  if ('DeduplicationOffset' in deduplicationPeriod)
    return offset > Number(valueIn(deduplicationPeriod.DeduplicationOffset));
  if (!('DeduplicationDuration' in deduplicationPeriod)) return now - at <= week;
  const value = valueIn(deduplicationPeriod.DeduplicationDuration);
  if (!isObject(value)) return false;
  const ms = Number(Reflect.get(value, 'seconds')) * 1_000 + Number(Reflect.get(value, 'nanos') ?? 0) / 1e6;
  return now - at <= ms;
}

const valueIn = (wrapped: unknown): unknown => (isObject(wrapped) && 'value' in wrapped ? wrapped.value : undefined);
