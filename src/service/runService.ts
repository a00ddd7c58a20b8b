import process from 'node:process';
import {
  catchError,
  combineLatest,
  concat,
  defer,
  EMPTY,
  endWith,
  from,
  ignoreElements,
  isObservable,
  map,
  merge,
  type Observable,
  of,
  startWith,
  switchMap,
  take,
  takeUntil,
  takeWhile,
  tap,
  timer,
} from 'rxjs';
import { noWork } from '../dispatch/dispatch.js';
import { quietly } from '../errors/quietly.js';
import { textOf } from '../errors/textOf.js';
import { checkNotNegative } from '../codecs/internal/numbers.js';
import type { Ledger } from '../ledger/Ledger.js';
import type { ProcessStatus, ReadyOptions } from '../process/ProcessStatus.js';
import { Metrics } from './Metrics.js';
import { isPromise } from '../process/Stop.js';
import { firstSignal, type PartFailure, runParts, ServiceError, type ServicePart } from './runParts.js';
import { serveStatus } from './serveStatus.js';
import {
  type Parts,
  type ServiceState,
  type ServiceStatus,
  toServiceStatus,
  type WorkStatus,
} from './ServiceStatus.js';

/**
 * What a service consists of.
 *
 * @category Service
 */
export interface ServiceParts {
  /** The ledger whose diagnostics are counted for `/metrics`. Default: none; `/metrics` then has the status alone. */
  readonly ledger?: Pick<Ledger, 'diagnostics$'> | undefined;
  /** Processors: what `processFeed` returns. */
  readonly processors?: readonly ServicePart<ProcessStatus>[] | undefined;
  /** Rules: what `automate` returns. */
  readonly rules?: readonly ServicePart<WorkStatus>[] | undefined;
  /** Outboxes: what `submitAll` returns. */
  readonly outboxes?: readonly ServicePart<WorkStatus>[] | undefined;
}

/**
 * Options of {@link runService}.
 *
 * @category Service
 */
export interface ServiceOptions {
  /** The port of the pages `/livez`, `/readyz`, `/status` and `/metrics`; 0 for a free one. Default: no server. */
  readonly port?: number | undefined;
  /**
   * The address on which the server listens. In a container it must be `'0.0.0.0'`, because probes come from outside.
   *
   * @defaultValue '127.0.0.1'
   */
  readonly host?: string | undefined;
  /** Stops the service, as the signals SIGTERM and SIGINT of the process do. */
  readonly signal?: AbortSignal | undefined;
  /**
   * How long the parts may take to finish what is in flight, in milliseconds. After that they are aborted, which is a failure of each:
   * what was in flight is found or done again at the next start. Kubernetes kills a process 30 seconds after SIGTERM.
   *
   * @defaultValue 25000
   */
  readonly drainWithinMs?: number | undefined;
  /**
   * Called after the last part has ended, for what must not be lost, such as the spans and metrics of an SDK of OpenTelemetry. The
   * service waits for the Promise or the Observable that it returns, for at most 5 seconds. Its failure is logged.
   */
  readonly flush?: (() => unknown) | undefined;
  /**
   * What to do if a part fails. `'continue'`: the others continue, the service is not ready, and `/status` says why. A part that has
   * given up because the ledger or its store could not be reached begins again after 10 seconds. `'stop'`: the others are stopped, and
   * the service fails, so that a supervisor can restart the process.
   *
   * @defaultValue 'continue'
   */
  readonly onFailure?: 'continue' | 'stop' | undefined;
  /** When a processor counts as ready: see `isReady` of `canton-rx/process`. */
  readonly ready?: ReadyOptions | undefined;
  /**
   * Called with a line when the service begins, or cannot listen, when it stops and ends, and when a part fails.
   * Its errors are ignored.
   *
   * @defaultValue console.log
   */
  readonly log?: ((line: string) => void) | undefined;
}

/** How long `flush` may take, in milliseconds. */
const flushWithinMs = 5_000;

/**
 * Runs processors, rules and outboxes as a service of Node.js: starts them, serves their status and metrics on a port, and stops
 * them on SIGTERM and SIGINT, so that nothing that is in flight is lost. Cold: it is one run per subscription.
 *
 * Emits the status whenever a part has another one. At the end it calls `flush`, logs a line that says why it ended, and
 * completes. If parts had failed, or were aborted, it sets `process.exitCode` to 1, and fails with a {@link ServiceError}. It does not exit by
 * itself.
 *
 * - `/livez` answers with 200 while the process answers at all.
 * - `/readyz` answers with 200 if every part works or stands by, otherwise with 503 and what it waits for: a processor that has not
 *   caught up, a rule or an outbox without its contracts or its database, a part that failed, and a service that stops.
 * - `/status` has the status as JSON: names, offsets, numbers and messages of errors.
 * - `/metrics` has it as text for Prometheus, with the counters of the diagnostics of `ledger`.
 *
 * @param parts - what to run
 * @param options - the server, how to stop, and what to do about failures
 * @throws TypeError synchronously, for invalid options and if there is nothing to run
 * @example
 * ```ts
 * import { acsDelta, createLedger } from 'canton-rx';
 * import { memoryStore, processFeed, updatesFeed } from 'canton-rx/process';
 * import { runService } from 'canton-rx/service';
 *
 * const ledger = createLedger({ baseUrl: 'http://127.0.0.1:7575' });
 * const feed = updatesFeed(ledger, { beginExclusive: 0, updateFormat: acsDelta({ parties: 'any' }) });
 * const log = processFeed(feed, (update) => console.log(update.offset), { name: 'log', store: memoryStore() });
 * runService({ ledger, processors: [log] }, { port: 0, signal: AbortSignal.timeout(1_000) }).subscribe({
 *   error: () => process.exit(1),
 *   complete: () => process.exit(0),
 * });
 * ```
 *
 * @category Service
 */
export function runService(
  { ledger, processors = [], rules = [], outboxes = [] }: ServiceParts,
  options: ServiceOptions = {},
): Observable<ServiceStatus> {
  const { port, host = '127.0.0.1', signal, drainWithinMs = 25_000, flush, onFailure = 'continue' } = options;
  const { ready = {} } = options;
  const write: (line: string) => unknown = options.log ?? console.log;
  // a service ends as it should without a log, too
  const log = (line: string): unknown => quietly(() => write(line));
  const parts: readonly ServicePart<ProcessStatus | WorkStatus>[] = [...processors, ...rules, ...outboxes];
  const { maxLagOffsets, maxAgeMs, maxBehindMs } = ready;
  checkNotNegative({ drainWithinMs, maxLagOffsets, maxAgeMs, maxBehindMs });
  // JavaScript callers may pass anything
  if (!['continue', 'stop'].includes(onFailure)) throw new TypeError("onFailure must be 'continue' or 'stop'");
  if (parts.length === 0) throw new TypeError('there must be at least one processor, rule or outbox');
  for (const part of parts)
    if (typeof part.stop !== 'function')
      throw new TypeError('each part must be what processFeed, automate or submitAll returns, without operators');
  return defer(() => {
    const metrics = new Metrics();
    const state: { -readonly [K in keyof ServiceState]: ServiceState[K] } = {};
    const failures: PartFailure[] = [];
    let statuses: Parts = { processors: [], rules: [], outboxes: [] };
    const status = (): ServiceStatus => toServiceStatus(statuses, state, ready);
    const statuses$ = combineLatest([
      latest(processors),
      // an outbox reads its database first
      latest(rules, unread),
      latest(outboxes, unread),
    ]).pipe(
      map(([processors, rules, outboxes]) => {
        statuses = { processors, rules, outboxes };
        return status();
      }),
    );
    const counted$ = (ledger?.diagnostics$ ?? EMPTY).pipe(
      tap((diagnostic) => {
        metrics.count(diagnostic);
      }),
      ignoreElements(),
    );
    const nameOf = (index: number): string => namesOf(statuses)[index] ?? `part ${index + 1}`;
    const onStop = (reason: string): void => {
      state.reason = reason;
      log(`the service stops: ${reason}`);
    };
    const signal$ = firstSignal(signal);
    const work$ = runParts(parts, { signal$, drainWithinMs, onFailure, log, nameOf, onStop }).pipe(
      tap((failure) => {
        failures.push(failure);
      }),
      ignoreElements(),
      endWith(undefined),
    );
    const ended$ = defer(() => {
      const why = state.reason ?? 'every part has ended';
      if (failures.length === 0) {
        log(`the service has ended: ${why}`);
        return EMPTY;
      }
      const error = new ServiceError(failures);
      process.exitCode = 1;
      log(`the service has failed: ${why}; ${error.message}`);
      throw error;
    });
    const run$ = concat(
      // the diagnostics of the first requests count, too: they begin after this
      merge(counted$, statuses$, work$.pipe(map(() => ended))).pipe(
        takeWhile((present): present is ServiceStatus => present !== ended),
      ),
      defer(() => of(status())),
      flushed(flush, signal$, log),
      ended$,
    );
    const server$: Observable<string | undefined> =
      port === undefined ? of(undefined) : serveStatus(port, host, { status, metrics });
    return server$.pipe(
      tap({
        next: (url) => {
          if (url === undefined) return;
          state.url = url;
          log(`the service listens on ${url}: /livez, /readyz, /status, /metrics`);
        },
        // a program that only exits would end without a word
        error: (error: unknown) => {
          log(`the server of the service failed: ${textOf(error)}`);
        },
      }),
      // the server answers until the service has ended
      switchMap(() => run$.pipe(endWith(ended))),
      takeWhile((present): present is ServiceStatus => present !== ended),
    );
  });
}

/** Marks the end among the statuses. */
const ended: unique symbol = Symbol('the service has ended');

/** Calls the last function of a service, and completes when it has ended or has taken too long. The first signal does not end it. */
const flushed = (
  flush: ServiceOptions['flush'],
  signal$: Observable<string>,
  log: (line: string) => void,
): Observable<never> => {
  const late$ = timer(flushWithinMs).pipe(
    tap(() => {
      log(`the service has not flushed within ${flushWithinMs} ms`);
    }),
  );
  const flush$ = defer(() => {
    const flushing = flush?.();
    return isObservable(flushing) || isPromise(flushing) ? from(flushing) : EMPTY;
  }).pipe(
    ignoreElements(),
    catchError(() => {
      log('the service could not flush');
      return EMPTY;
    }),
    takeUntil(late$),
    endWith(undefined),
  );
  // a signal without a listener would end the process
  return merge(signal$.pipe(ignoreElements()), flush$).pipe(take(1), ignoreElements());
};

/** The status of a rule or an outbox that has not been read yet. */
const unread: WorkStatus = { ...noWork, role: 'starting', state: 'waiting' };

/** Emits the last statuses of some parts. */
const latest = <S>(parts: readonly ServicePart<S>[], ...first: S[]): Observable<readonly S[]> =>
  parts.length === 0 ? of([]) : combineLatest(parts.map(({ status$ }) => status$.pipe(startWith(...first))));

/** The names of all parts, in order. */
const namesOf = ({ processors, rules, outboxes }: Parts): readonly string[] => [
  ...processors.map(({ processor }, index) => `processor ${processor ?? index + 1}`),
  ...rules.map(({ rule }, index) => `rule ${rule ?? index + 1}`),
  ...outboxes.map(({ outbox }, index) => `outbox ${outbox ?? index + 1}`),
];
