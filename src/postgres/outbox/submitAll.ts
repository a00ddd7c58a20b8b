import type { Pool } from 'pg';
import {
  concat,
  defer,
  filter,
  finalize,
  from,
  ignoreElements,
  type Observable,
  switchMap,
  catchError,
  concatMap,
  EMPTY,
  exhaustMap,
  forkJoin,
  map,
  merge,
  NEVER,
  of,
  share,
  takeUntil,
  tap,
  timer,
} from 'rxjs';
import { dispatch } from '../../dispatch/dispatch.js';
import { delayAfter, type Place, Places } from '../../dispatch/Places.js';
import { isLedgerError, isTransient } from '../../errors/LedgerError.js';
import { monotonicNow } from '../../http/clock.js';
import {
  checkNotNegative,
  checkPositive,
  mapError,
  type RetryPolicy,
  retryPolicy,
  retryTransient,
  type CompleteRetryPolicy,
} from '../../http/retry.js';
import { requireConnection } from '../../ledger/connection.js';
import type { Ledger } from '../../ledger/Ledger.js';
import { asStoreError, storeRetryPolicy, whileHeld } from '../../process/heldStore.js';
import { endAtStop, stopOn, type Stop } from '../../process/Stop.js';
import { recoveryTimeMs } from '../../submission/execute.js';
import type { CommandsOptions } from '../../submission/submitCommands.js';
import { asStoreError as asDatabaseError } from '../databaseErrors.js';
import { holdLease, type Lease } from '../Lease.js';
import { tablesIn } from '../postgresStore.js';
import { type Decide, decideRow, type Deciding } from './decide.js';
import { attempt, type Outcome, type Submitted, toSubmitted } from './outcome.js';
import { type OwnState, statusOf, type Submissions } from './OutboxStatus.js';
import { OutboxRows, outboxTablesIn, type LedgerPosition, type OutboxRow } from './OutboxRows.js';
import { isUndecided } from './requests.js';
import type { CommandsRequest } from '../../codecs/SubmissionRequest.js';
import type { SubmittedTransaction } from '../../codecs/Transaction.js';
import { readParticipantId } from '../../history/participant.js';
import type { Service } from '../../feed/Service.js';

/**
 * Options of {@link CommandOutbox.submitAll}.
 *
 * @category Outbox
 */
export interface SubmitAllOptions {
  /**
   * The maximum number of commands that are sent at the same time. Those with the same key are never sent at the same time.
   *
   * @defaultValue 4
   */
  readonly concurrency?: number | undefined;
  /**
   * The delays before a command that failed is sent again, and the pauses while the participant is overloaded. `giveUpAfterMs`
   * limits only the retries of the database.
   *
   * @defaultValue from 1000 ms, doubling up to 60000 ms
   */
  readonly retry?: RetryPolicy | undefined;
  /**
   * How often to look for new commands, and how often a standby tries to take over, in milliseconds.
   *
   * @defaultValue 1000
   */
  readonly pollMs?: number | undefined;
  /** Stops the outbox: it begins nothing, and completes when the commands that are being sent have an outcome. */
  readonly signal?: AbortSignal | undefined;
  /**
   * How long to wait after a stop for the commands that are being sent, in milliseconds. Another process, or the next start,
   * determines the outcome of those that remain.
   *
   * @defaultValue 10000
   */
  readonly stopWithinMs?: number | undefined;
  /**
   * How long committed and dropped commands are kept, in milliseconds. Only during that time, a command id is not enqueued again.
   *
   * @defaultValue 30 days
   */
  readonly keepMs?: number | undefined;
  /**
   * How long to determine an outcome before the command is reported as `Unknown` and continued later, as for
   * `ledger.submitAndWaitForTransaction`.
   *
   * @defaultValue within 240000 ms
   */
  readonly recover?: CommandsOptions['recover'] | undefined;
  /**
   * The functions that decide the commands which were enqueued with `decide`, by name. A command with another name is parked.
   *
   * @defaultValue none
   */
  readonly decide?: Readonly<Record<string, Decide>> | undefined;
  /**
   * How long a function of `decide` may take, in milliseconds.
   *
   * @defaultValue 30000
   */
  readonly decideTimeoutMs?: number | undefined;
}

/** The outbox whose commands to send. */
interface OutboxSettings {
  readonly pool: Pool;
  readonly schema: string;
  readonly name: string;
  readonly timeoutMs: number;
  /** Emits once when the tables exist. */
  readonly ready$: Observable<unknown>;
}

/** How long the retention is by default, in milliseconds. */
const thirtyDaysMs = 30 * 24 * 3_600_000;

/** Sends the commands of an outbox while this process holds its name. If the database fails, begins again. */
export function submitAll(
  { pool, schema, name, timeoutMs, ready$ }: OutboxSettings,
  ledger: Ledger,
  options: SubmitAllOptions,
): Submissions {
  const { concurrency = 4, pollMs = 1_000, signal, stopWithinMs = 10_000, keepMs = thirtyDaysMs, recover } = options;
  const { decide = {}, decideTimeoutMs = 30_000 } = options;
  checkPositive({ concurrency }, true);
  checkPositive({ pollMs, keepMs, decideTimeoutMs });
  for (const [each, fn] of Object.entries(decide))
    if (typeof fn !== 'function') throw new TypeError(`decide.${each} must be a function`);
  checkNotNegative({ stopWithinMs });
  recoveryTimeMs({ recover });
  const retry = retryPolicy({ baseDelayMs: 1_000, maxDelayMs: 60_000 }, options.retry);
  const { service } = requireConnection(ledger);
  const tables = outboxTablesIn(schema);
  const lockName = `outbox ${name}`;
  const state: { hasWorked: boolean; places?: Places | undefined } = { hasWorked: false };
  const lastHolders = new Map<string, string>();
  const lease$ = defer(() => ready$).pipe(
    switchMap(() => {
      const how = { name: lockName, isolation: 'READ COMMITTED', timeoutMs, pollMs, lastHolders };
      return holdLease(pool, { tables: tablesIn(schema), ...how });
    }),
    tap(() => {
      state.hasWorked = true;
    }),
    mapError((error) =>
      asStoreError('hold', lockName, asDatabaseError('hold', lockName, schema, error, state.hasWorked)),
    ),
  );
  const submitted$ = defer(() => {
    let isSending = false;
    const stop = stopOn(signal);
    const send = ({ client, fence }: Lease): Observable<Submitted | undefined> =>
      defer(() => {
        isSending = true;
        const places = (state.places = new Places(concurrency));
        const rows = new OutboxRows({ client, tables, name, lockName, fence, timeoutMs });
        const settings = { ledger, service, places, pollMs, keepMs, retry, recover, name, decide, decideTimeoutMs };
        return sendCommands({ ...settings, ...stop, rows });
      }).pipe(
        finalize(() => {
          isSending = false;
          state.places = undefined;
        }),
      );
    return whileHeld(lease$, send).pipe(
      // each value renews the budget
      retryTransient(
        { retry: storeRetryPolicy(retry), report: service.link.report },
        (error) => isLedgerError(error, 'StoreError') && isTransient(error),
      ),
      filter((submitted) => submitted !== undefined),
      endAtStop(stop, () => isSending, stopWithinMs),
    );
  });
  const own = (): OwnState => {
    if (state.places === undefined) return { role: 'standby', state: 'waiting' };
    return { role: 'leader', state: state.places.isPaused ? 'paused' : 'running' };
  };
  return Object.assign(submitted$, { status$: statusOf({ pool, name, timeoutMs, ready$ }, tables, own) });
}

/** What the process that holds an outbox's name works with. */
interface Sending extends Stop, Deciding {
  readonly rows: OutboxRows;
  /** The name of the outbox, for diagnostics. */
  readonly name: string;
  readonly ledger: Ledger;
  readonly service: Service;
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
const sendCommands = (sending: Sending): Observable<Submitted | undefined> =>
  defer(() => {
    const { rows, places, pollMs, keepMs, stop$, isStopped, service, retry } = sending;
    const running = new Set<number>();
    /** The submissions whose outcome is unknown. Subscribing to one again continues it. */
    const open = new Map<number, Observable<SubmittedTransaction>>();
    const position$ = positions(sending).pipe(
      catchError((cause: unknown) => {
        if (!isLedgerError(cause)) throw cause;
        const delayMs = places.beginPause(retry);
        service.link.report(() => ({ _tag: 'RetryScheduled', cause, delayMs, failures: places.pauses, spentMs: 0 }));
        return EMPTY;
      }),
    );
    const looks$ = timer(pollMs, pollMs).pipe(
      filter(() => running.size > 0),
      takeUntil(stop$),
    );
    // also subscribed to below, so that no statement is abandoned when the last command ends
    const dropped$ = looks$.pipe(
      exhaustMap(() => rows.dropped([...running])),
      share(),
    );
    /** Saves the intent of commands, and emits them. */
    const begin = (decided: readonly OutboxRow<CommandsRequest>[]): Observable<BegunCommand> =>
      position$.pipe(
        concatMap((position) =>
          isStopped()
            ? []
            : rows.begin(decided, position).pipe(concatMap((begun) => begun.map((row) => ({ row, position })))),
        ),
      );
    /** Decides what a command does, and sends it. */
    const decideAndSend = (row: OutboxRow): Observable<Outcome> =>
      decideRow(sending, row).pipe(
        takeUntil(stop$),
        concatMap((decided) =>
          'outcome' in decided
            ? of(decided.outcome)
            : begin([decided.row]).pipe(concatMap((begun) => attempt(sending, begun.row, begun.position, open))),
        ),
      );
    const send = ({ row, position }: DueCommand, place: Place): Observable<Submitted> =>
      defer(() => {
        running.add(row.id);
        place.giveBackIfSlow();
        const isDropped$ = dropped$.pipe(filter((ids) => ids.includes(row.id)));
        const outcome$ = position === undefined ? decideAndSend(row) : attempt(sending, row, position, open);
        return outcome$.pipe(
          takeUntil(isDropped$),
          concatMap((outcome) => {
            const { concernsAll = false, ...change } = outcome;
            if (!concernsAll && !outcome.mayBeCommitted && outcome.reason !== 'decide') places.resume();
            const delayMs = concernsAll ? places.beginPause(retry) : delayAfter(retry, row.failures);
            const delay = outcome.state === 'pending' && { delayMs };
            return rows.record(row, { ...change, ...delay }).pipe(map(() => toSubmitted(row, outcome, delay)));
          }),
          tap((submitted) => {
            reportParked(sending, submitted);
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
      diagnostics$: service.diagnostics$,
    });
    const deletions$ = timer(0, deleteEveryMs).pipe(takeUntil(stop$));
    const answered$ = deletions$.pipe(
      exhaustMap(() => (keepMs === Infinity ? rows.dropped([]) : rows.deleteOld(keepMs))),
      map(() => undefined),
    );
    return merge(sent$, answered$, dropped$.pipe(ignoreElements()));
  });

/** A command whose intent is saved, and the position of the ledger before it is sent. */
interface BegunCommand {
  readonly row: OutboxRow<CommandsRequest>;
  readonly position: LedgerPosition;
}

/** A command that is due. */
type DueCommand = BegunCommand | { readonly row: OutboxRow; readonly position: undefined };

const isDecided = (row: OutboxRow): row is OutboxRow<CommandsRequest> => !isUndecided(row.request);

/** Emits the position of the ledger once, read a short time ago at most. */
function positions({ ledger, service }: Sending): Observable<LedgerPosition> {
  let last: { readonly position: LedgerPosition; readonly at: number } | undefined;
  const read$ = forkJoin({ since: ledger.ledgerEnd(), participantId: readParticipantId(service.link) });
  return defer(() => {
    const at = monotonicNow();
    if (last !== undefined && at - last.at < positionMs) return of(last.position);
    return read$.pipe(
      tap((position) => {
        last = { position, at };
      }),
    );
  });
}

/** Reports a command that waits for a person. */
function reportParked({ service, name }: Sending, submitted: Submitted): void {
  if (submitted._tag === 'Committed' || submitted._tag === 'Dropped' || submitted.retryAt !== undefined) return;
  const { id, commandId, error } = submitted;
  service.link.report(() => ({ _tag: 'CommandParked', outbox: name, id, commandId, cause: error }));
}
