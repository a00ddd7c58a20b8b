import {
  catchError,
  concat,
  concatAll,
  concatMap,
  defer,
  EMPTY,
  exhaustMap,
  filter,
  finalize,
  from,
  map,
  merge,
  NEVER,
  type Observable,
  of,
  share,
  takeUntil,
  tap,
  timer,
  toArray,
} from 'rxjs';
import type { LedgerPosition } from '../../codecs/LedgerPosition.js';
import type { CommandsRequest } from '../../codecs/SubmissionRequest.js';
import type { SubmittedTransaction } from '../../codecs/Transaction.js';
import { dispatch } from '../../dispatch/dispatch.js';
import { delayAfter, type Place, type Places } from '../../dispatch/Places.js';
import { isLedgerError } from '../../errors/LedgerError.js';
import type { Client } from '../../client/Client.js';
import { monotonicNow } from '../../http/clock.js';
import { clampTimer, type CompleteRetryPolicy } from '../../http/retry.js';
import type { Ledger } from '../../ledger/Ledger.js';
import type { Stop } from '../../process/Stop.js';
import { readStart } from '../../submission/LedgerStart.js';
import type { CommandsOptions } from '../../submission/submitCommands.js';
import { maxPeriodMs } from '../connection.js';
import { attempt } from './attempt.js';
import { decideRow, type Deciding } from './decide.js';
import { lookBack } from './lookBack.js';
import { type Outcome, type Submitted, toDiagnostic, toSubmitted } from './outcome.js';
import type { BegunCommand, OutboxRow, OutboxRows } from './OutboxRows.js';
import { isUndecided } from './requests.js';

/** What the process that holds an outbox's name works with. */
interface Sending extends Stop, Deciding {
  readonly rows: OutboxRows;
  /** The name of the outbox, for diagnostics. */
  readonly name: string;
  readonly ledger: Ledger;
  readonly client: Client;
  readonly places: Places;
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
 * recorded, and `undefined` from time to time, when the database has answered.
 */
export const sendCommands = (sending: Sending): Observable<Submitted | undefined> =>
  defer(() => {
    const { rows, places, pollMs, keepMs, stop$, isStopped, ledger, client, retry, name } = sending;
    const running = new Set<number>();
    /** The submissions whose outcome is unknown, by command id. Subscribing to one again continues it. */
    const open = new Map<string, Observable<SubmittedTransaction>>();
    const positionFor = positions(client);
    const settings = { ...sending, periods: lookBack(ledger, client, keepMs) };
    const looks$ = timer(clampTimer(pollMs), clampTimer(pollMs)).pipe(
      filter(() => running.size > 0),
      takeUntil(stop$),
    );
    const dropped$ = looks$.pipe(
      exhaustMap(() => rows.dropped([...running])),
      share(),
    );
    /** Saves the intent of commands, and emits them. */
    const begin = (decided: readonly OutboxRow<CommandsRequest>[]): Observable<BegunCommand> =>
      from(decided).pipe(
        concatMap((row) => positionFor(row.request.actAs).pipe(map((position) => ({ row, position })))),
        toArray(),
        catchError((cause: unknown) => {
          if (!isLedgerError(cause)) throw cause;
          const delayMs = places.beginPause(retry);
          const failures = places.pauses;
          client.report(() => ({ _tag: 'RetryScheduled', outbox: name, cause, delayMs, failures, spentMs: 0 }));
          return EMPTY;
        }),
        concatMap((due) => (isStopped() ? [] : rows.begin(due))),
        concatAll(),
      );
    /** Decides what a command does, and sends it. */
    const decideAndSend = (row: OutboxRow): Observable<Outcome> => {
      const decided$ = decideRow(sending, row).pipe(takeUntil(stop$));
      return decided$.pipe(
        concatMap((decided) =>
          'outcome' in decided
            ? of(decided.outcome)
            : begin([decided.row]).pipe(concatMap((begun) => attempt(settings, begun.row, begun.position, open))),
        ),
      );
    };
    const send = ({ row, position }: DueCommand, place: Place): Observable<Submitted> =>
      defer(() => {
        running.add(row.id);
        place.giveBackIfSlow();
        const isDropped$ = dropped$.pipe(filter((ids) => ids.includes(row.id)));
        const sent$ = position === undefined ? decideAndSend(row) : attempt(settings, row, position, open);
        const outcome$ = sent$.pipe(takeUntil(isDropped$));
        return outcome$.pipe(
          concatMap((outcome) => {
            const { concernsAll = false, mayBeCommitted, reason } = outcome;
            if (!concernsAll && !mayBeCommitted && reason !== 'decide') places.resume();
            const delayMs = concernsAll ? places.beginPause(retry) : delayAfter(retry, row.failures);
            const delay = outcome.state === 'pending' && { delayMs };
            return rows.record(row, { ...outcome, ...delay }).pipe(map(() => toSubmitted(row, outcome, delay)));
          }),
          tap((submitted) => {
            client.report(() => toDiagnostic(name, submitted));
          }),
        );
      }).pipe(
        finalize(() => {
          running.delete(row.id);
        }),
      );
    /** Emits commands that are due: those to decide first, which takes time, and the others when their intent is saved. */
    const due$ = defer(() => rows.due(places.free, [...running], retry.maxDelayMs)).pipe(
      concatMap((due): Observable<DueCommand> => {
        const decided = due.filter(isDecided);
        const undecided$ = from(due).pipe(
          filter((row) => !isDecided(row)),
          map((row) => ({ row, position: undefined })),
        );
        return decided.length === 0 ? undecided$ : concat(undecided$, begin(decided));
      }),
    );
    const sent$ = dispatch({
      places,
      due: { take: () => due$, waitMs: () => pollMs, changed$: NEVER },
      stop: sending,
      work: send,
      diagnostics$: client.diagnostics$,
      count: () => rows.counts(),
      report: (counts) => {
        client.report(() => ({ _tag: 'WorkCounted', outbox: name, ...counts }));
      },
    });
    const deletions$ = timer(0, deleteEveryMs).pipe(takeUntil(stop$));
    const answered$ = deletions$.pipe(
      exhaustMap(() => (keepMs > maxPeriodMs ? rows.dropped([]) : rows.deleteOld(keepMs))),
      map(() => undefined),
    );
    return merge(sent$, answered$);
  });

/** A command that is due. */
type DueCommand = BegunCommand | { readonly row: OutboxRow; readonly position: undefined };

const isDecided = (row: OutboxRow): row is OutboxRow<CommandsRequest> => !isUndecided(row.request);

/** Returns the position of the ledger with what some parties see, read a short time ago at most. */
function positions(client: Client): (parties: readonly string[]) => Observable<LedgerPosition> {
  let last: readonly { readonly key: string; readonly position: LedgerPosition; readonly at: number }[] = [];
  return (parties) =>
    defer(() => {
      const at = monotonicNow();
      const key = JSON.stringify(parties);
      last = last.filter((each) => at - each.at < positionMs);
      const known = last.find((each) => each.key === key);
      if (known !== undefined) return of(known.position);
      return readStart(client, parties).pipe(
        tap((position) => {
          last = [...last, { key, position, at }];
        }),
      );
    });
}
