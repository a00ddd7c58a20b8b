import { afterEach, beforeEach, expect, jest } from '@jest/globals';
import {
  asyncScheduler,
  defer,
  delay,
  map,
  type Observable,
  type ObservableInput,
  of,
  queueScheduler,
  takeUntil,
  tap,
  timer,
} from 'rxjs';
import type { Offset } from '../../src/codecs/scalars.js';
import type { UpdateFormat } from '../../src/codecs/UpdateFormat.js';
import type { CheckpointStore, Cursor, TransactionalStore } from '../../src/process/CheckpointStore.js';
import type {
  BatchHandler,
  BatchProcessOptions,
  CommitEvery,
  Committed,
  Handler,
  HandlerResult,
  ProcessOptions,
  Work,
  WorkOptions,
} from '../../src/process/ProcessOptions.js';
import { processFeed } from '../../src/process/processFeed.js';
import { updatesFeed } from '../../src/process/updatesFeed.js';
import type { UpdatesFeedOptions, UpdatesFeedRequest } from '../../src/process/updatesReader.js';
import { observe } from '../helpers/observe.js';
import { marbles } from '../helpers/time.js';
import { fill, updateFormat, upTo, world, type World, type WorldOptions } from '../helpers/world.js';
import type { Tx } from './transactionalStore.js';

/** For the tests of a file: `Math.random` gives 0.5. */
export function mockPlatform(): void {
  beforeEach(() => {
    jest.spyOn(Math, 'random').mockReturnValue(0.5);
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });
}

/** Fields of a request: from 0 and without an end, unless the test says otherwise. */
export interface TestRequest {
  readonly beginExclusive?: Offset;
  readonly endInclusive?: Offset;
  readonly updateFormat?: UpdateFormat;
}

const requestOf = ({ beginExclusive = 0, endInclusive, ...rest }: TestRequest = {}): UpdatesFeedRequest => ({
  beginExclusive,
  updateFormat,
  ...(endInclusive !== undefined && { endInclusive }),
  ...rest,
});

/** A ledger with processors of its updates. */
export interface ProcessWorld extends World {
  readonly process: <Tx = void>(
    handler: Handler<NoInfer<Tx>>,
    options?: ProcessOptions<Tx> & UpdatesFeedOptions,
    request?: TestRequest,
  ) => Observable<Committed>;
  readonly processBatches: <Tx = void>(
    handler: BatchHandler<NoInfer<Tx>>,
    options: BatchProcessOptions<Tx> & UpdatesFeedOptions,
    request?: TestRequest,
  ) => Observable<Committed>;
}

/** A ledger with some updates, and processors of them. */
export function processWorld(updates = 0, worldOptions: WorldOptions = {}): ProcessWorld {
  const created = world({ latencyMs: 5, participantId: 'participant1::1220ab', ...worldOptions });
  fill(created.ledger, ...upTo(updates));
  const { client } = created;
  return {
    ...created,
    process: (handler, options, request) =>
      processFeed(updatesFeed(client, requestOf(request), options), handler, options),
    processBatches: (handler, options, request) =>
      processFeed(updatesFeed(client, requestOf(request), options), handler, options),
  };
}

/** A call of a store. */
export type Call = 'load' | 'save' | 'park';

/** The result of a faulty call, by its number among the calls of its kind; `undefined` if the call works. */
export type StoreFault = (call: Call, count: number) => ObservableInput<unknown> | undefined;

/** A minimal store without transactions. */
export class PlainStore implements CheckpointStore {
  /** The saved record, as JSON. */
  json: string | undefined;
  readonly saves: Cursor[] = [];
  readonly parkedUpdates = new Map<Offset, unknown>();
  readonly calls: Record<Call, number> = { load: 0, save: 0, park: 0 };

  constructor(
    private readonly fault: StoreFault = () => undefined,
    private readonly delayMs = 0,
  ) {}

  get cursor(): Cursor | undefined {
    return this.json === undefined ? undefined : (JSON.parse(this.json) as Cursor);
  }

  /** Sets the saved record. */
  withRecord(record: unknown): this {
    this.json = JSON.stringify(record);
    return this;
  }

  load(): Observable<unknown> {
    return this.call('load', () => this.cursor);
  }

  save(_: string, cursor: Cursor): Observable<unknown> {
    return this.call('save', () => {
      this.json = JSON.stringify(cursor);
      this.saves.push(cursor);
    });
  }

  park(_: string, offset: Offset, parked: unknown): Observable<unknown> {
    return this.call('park', () => this.parkedUpdates.set(offset, JSON.parse(JSON.stringify(parked)) as unknown));
  }

  private call(call: Call, act: () => unknown): Observable<unknown> {
    return defer((): ObservableInput<unknown> => {
      const faulty = this.fault(call, (this.calls[call] += 1));
      if (faulty !== undefined) return faulty;
      return this.delayMs === 0 ? defer(() => of(act())) : of(true).pipe(delay(this.delayMs), map(act));
    });
  }
}

/** A handler that takes some milliseconds, and records the offsets that it has started and handled, in a transaction, too. */
export function recordingHandler(durationMs = 0): {
  readonly handled: Offset[];
  readonly started: Offset[];
  readonly handle: (work: Work, tx?: unknown) => HandlerResult;
} {
  const started: Offset[] = [];
  const handled: Offset[] = [];
  const handle = ({ offset }: Work, tx?: unknown): HandlerResult => {
    const record = (): void => {
      handled.push(offset);
      (tx as Tx | undefined)?.effects.push(offset);
    };
    started.push(offset);
    if (durationMs > 0) return timer(durationMs).pipe(tap(record));
    record();
    return undefined;
  };
  return { handled, started, handle };
}

type AnyStore = PlainStore | TransactionalStore<Tx>;

/** How {@link run} runs a processor; all else is as in most tests. */
export interface RunOptions<S extends AnyStore = PlainStore> {
  /** The number of updates that the ledger has at the start. */
  readonly updates?: number;
  readonly world?: WorldOptions;
  /** Changes the ledger before the processor begins, or plans that. */
  readonly prepare?: (world: ProcessWorld) => void;
  readonly store?: S;
  /** Handles an update; `record` is the handler that records it. */
  readonly handle?: (update: Work, record: (update: Work) => HandlerResult, tx: Tx) => HandlerResult;
  /** How long the handler takes that records. */
  readonly handlerMs?: number;
  readonly options?: WorkOptions & UpdatesFeedOptions & { readonly commitEvery?: CommitEvery };
  readonly request?: TestRequest;
  /** When its signal is aborted. */
  readonly abortAt?: number;
  /** When the processor is unsubscribed. */
  readonly ms?: number;
}

/** Runs a processor with a store in virtual time, and returns what it did. */
export function run<S extends AnyStore = PlainStore>({
  updates = 10,
  world: worldOptions = {},
  prepare,
  store = new PlainStore() as never,
  handle = (update, record) => record(update),
  handlerMs = 0,
  options = {},
  request,
  abortAt,
  ms = 100_000,
}: RunOptions<S> = {}) {
  return marbles(({ flush }) => {
    const made = processWorld(updates, worldOptions);
    const { client, service } = made;
    prepare?.(made);
    const recorded = recordingHandler(handlerMs);
    const diagnostics = observe(client.diagnostics$);
    const handler = (update: Work, tx: Tx): HandlerResult => handle(update, (work) => recorded.handle(work, tx), tx);
    const signal = abortAt === undefined ? options.signal : abortAfter(abortAt);
    const all = { store: store as TransactionalStore<Tx>, name, ...options, ...(signal && { signal }) };
    const seen = observe(made.process(handler, all, request).pipe(until(ms)));
    flush();
    expect(service.open).toBe(0);
    const { handled, started } = recorded;
    const { error, values: commits } = seen;
    const endMs = asyncScheduler.now();
    return { store, handled, started, seen, error, commits, diagnostics: diagnostics.values, service, endMs };
  });
}

/** Stops the process at these times, for so many milliseconds each: what is due meanwhile comes late. */
export function stopProcessAt(forMs: number, ...times: readonly number[]): void {
  const real = queueScheduler.now.bind(queueScheduler);
  let stoppedMs = 0;
  jest.spyOn(queueScheduler, 'now').mockImplementation(() => real() + stoppedMs);
  for (const ms of times)
    timer(ms).subscribe(() => {
      stoppedMs += forMs;
    });
}

/** A signal that aborts after a virtual time. */
export function abortAfter(ms: number): AbortSignal {
  const controller = new AbortController();
  timer(ms).subscribe(() => {
    controller.abort();
  });
  return controller.signal;
}

/** Unsubscribes after a virtual time. */
export const until =
  (ms: number) =>
  <A>(source: Observable<A>): Observable<A> =>
    source.pipe(takeUntil(timer(ms)));

export const name = 'balances';
