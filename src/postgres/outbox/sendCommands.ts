import {
  asyncScheduler,
  catchError,
  concatMap,
  defaultIfEmpty,
  defer,
  EMPTY,
  exhaustMap,
  finalize,
  forkJoin,
  ignoreElements,
  map,
  merge,
  mergeMap,
  type Observable,
  of,
  race,
  repeat,
  Subject,
  take,
  takeUntil,
  tap,
  throwIfEmpty,
  timer,
} from 'rxjs';
import type { SubmittedTransaction } from '../../codecs/Transaction.js';
import { isLedgerError } from '../../errors/LedgerError.js';
import { readParticipantId } from '../../feed/proveLedger.js';
import type { Service } from '../../feed/Service.js';
import { clampTimer, type CompleteRetryPolicy } from '../../http/retry.js';
import type { Ledger } from '../../ledger/Ledger.js';
import type { Stop } from '../../process/Stop.js';
import type { CommandsOptions } from '../../submission/submitCommands.js';
import {
  commitOf,
  failureOf,
  type Outcome,
  periodStart,
  replacementOf,
  type Submitted,
  toSubmitted,
} from './outcome.js';
import type { LedgerPosition, OutboxRow, OutboxRows } from './OutboxRows.js';

/** What the process that holds an outbox's name works with. */
interface Sending extends Stop {
  readonly rows: OutboxRows;
  /** The name of the outbox, for diagnostics. */
  readonly name: string;
  readonly ledger: Ledger;
  readonly service: Service;
  readonly concurrency: number;
  readonly pollMs: number;
  readonly keepMs: number;
  /** The delays after failures. */
  readonly retry: CompleteRetryPolicy;
  readonly recover: CommandsOptions['recover'];
}

/** How long a position of the ledger is used, in milliseconds: an earlier one is as good, and costs no request. */
const positionMs = 1_000;

/** How often commands that ended long ago are deleted, in milliseconds. */
const deleteEveryMs = 60_000;

/**
 * Sends the commands of an outbox until it is stopped. Then finishes those that are being sent, and completes. Emits what was
 * recorded, and `undefined` whenever the database has answered.
 */
export const sendCommands = (sending: Sending): Observable<Submitted | undefined> =>
  defer(() => {
    const { rows, concurrency, pollMs, keepMs, stop$, isStopped, service } = sending;
    const running = new Set<number>();
    /** The submissions whose outcome is unknown. Subscribing to one again continues it. */
    const open = new Map<number, Observable<SubmittedTransaction>>();
    const pause = new Pause(sending.retry);
    const position$ = positions(sending).pipe(
      catchError((cause: unknown) => {
        if (!isLedgerError(cause)) throw cause;
        const delayMs = pause.begin();
        service.link.report(() => ({ _tag: 'RetryScheduled', cause, delayMs, failures: pause.count, spentMs: 0 }));
        return EMPTY;
      }),
    );
    const wake$ = new Subject<void>();
    let isWoken = false;
    const send = (row: OutboxRow, position: LedgerPosition): Observable<Submitted> =>
      defer(() => {
        running.add(row.id);
        return attempt(sending, row, position, open).pipe(
          concatMap((outcome) => {
            const { concernsAll = false, ...change } = outcome;
            const isAgain = outcome.state === 'pending';
            if (concernsAll) pause.begin();
            else if (!outcome.mayBeCommitted) pause.end();
            const delayMs = concernsAll ? pause.leftMs : delayAfter(sending.retry, row.failures);
            const delay = isAgain && { delayMs };
            return rows.record(row, { ...change, ...delay }).pipe(map(() => toSubmitted(row, outcome, delay)));
          }),
          tap((submitted) => {
            reportParked(sending, submitted);
          }),
        );
      }).pipe(
        finalize(() => {
          running.delete(row.id);
          isWoken = true;
          wake$.next();
        }),
      );
    /** Saves the intent of commands that are due, and emits what sends them. */
    const takeDue$ = defer((): Observable<readonly Observable<Submitted>[]> => {
      isWoken = false;
      // after a pause, one attempt shows whether it is over
      const places = (pause.count > 0 ? 1 : concurrency) - running.size;
      if (isStopped() || pause.leftMs > 0 || places <= 0) return of([]);
      return rows.due(places, [...running]).pipe(
        concatMap((due) =>
          due.length === 0
            ? of([])
            : position$.pipe(
                concatMap((position) => {
                  if (isStopped()) return of([]);
                  return rows.begin(due, position).pipe(map((begun) => begun.map((row) => send(row, position))));
                }),
                defaultIfEmpty([]),
              ),
        ),
      );
    });
    const next = (): Observable<unknown> => {
      if (isStopped()) return EMPTY;
      const idleMs = pause.leftMs > 0 ? pause.leftMs : pollMs;
      return isWoken ? timer(0) : race(wake$, stop$, timer(clampTimer(idleMs))).pipe(take(1));
    };
    const sent$ = takeDue$.pipe(
      repeat({ delay: next }),
      mergeMap((sends) => merge(of(undefined), ...sends)),
    );
    const deletions$ = timer(0, deleteEveryMs).pipe(takeUntil(stop$));
    const deleted$ = deletions$.pipe(
      exhaustMap(() => (keepMs === Infinity ? EMPTY : rows.deleteOld(keepMs))),
      ignoreElements(),
    );
    return merge(sent$, deleted$);
  });

/** Emits the position of the ledger once, read a short time ago at most. */
function positions({ ledger, service }: Sending): Observable<LedgerPosition> {
  let last: { readonly position: LedgerPosition; readonly at: number } | undefined;
  const read$ = forkJoin({ since: ledger.ledgerEnd(), participantId: readParticipantId(service) });
  return defer(() => {
    const at = asyncScheduler.now();
    if (last !== undefined && Math.abs(at - last.at) < positionMs) return of(last.position);
    return read$.pipe(
      tap((position) => {
        last = { position, at };
      }),
    );
  });
}

/** Sends a command, or determines whether it was committed before. Emits the outcome once, and never fails. */
function attempt(
  { ledger, recover }: Sending,
  row: OutboxRow,
  position: LedgerPosition,
  open: Map<number, Observable<SubmittedTransaction>>,
): Observable<Outcome> {
  const replaced = replacementOf(row, position);
  if (replaced !== undefined) return of(replaced);
  const { id, mayBeCommitted, since } = row;
  const deduplicationPeriod = { DeduplicationOffset: { value: periodStart(row) } };
  const request = { ...row.request, commandId: row.commandId, deduplicationPeriod };
  const options = { ...(mayBeCommitted && { since }), ...(recover !== undefined && { recover }) };
  const transaction$ = open.get(id) ?? defer(() => ledger.submitAndWaitForTransaction(request, options)).pipe(take(1));
  open.delete(id);
  return transaction$.pipe(
    throwIfEmpty(),
    map(commitOf),
    catchError((error: unknown) => {
      const failure = failureOf(error, row);
      if (failure.state === 'pending' && failure.mayBeCommitted) open.set(id, transaction$);
      return of(failure);
    }),
  );
}

/** Reports a command that waits for a person. */
function reportParked({ service, name }: Sending, submitted: Submitted): void {
  if (submitted._tag === 'Committed' || submitted.retryAt !== undefined) return;
  const { id, commandId, error } = submitted;
  service.link.report(() => ({ _tag: 'CommandParked', outbox: name, id, commandId, cause: error }));
}

/** A pause of all commands, because none of them would succeed at the moment. */
class Pause {
  #until = -Infinity;
  /** The number of pauses since the participant last answered. */
  count = 0;

  constructor(private readonly retry: CompleteRetryPolicy) {}

  /** How long the pause lasts, in milliseconds. */
  get leftMs(): number {
    return Math.max(0, this.#until - asyncScheduler.now());
  }

  /** Begins a pause, unless there is one. Returns how long it lasts. */
  begin(): number {
    if (this.leftMs > 0) return this.leftMs;
    const delayMs = delayAfter(this.retry, this.count);
    this.count += 1;
    this.#until = asyncScheduler.now() + delayMs;
    return delayMs;
  }

  end(): void {
    this.count = 0;
  }
}

/** A delay between half and all of the back-off: commands neither come at once nor all at the same time. */
const delayAfter = ({ baseDelayMs, maxDelayMs }: CompleteRetryPolicy, failures: number): number =>
  Math.min(maxDelayMs, baseDelayMs * 2 ** failures) * (0.5 + Math.random() / 2);
