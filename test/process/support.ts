import { createHash } from 'node:crypto';
import { jest } from '@jest/globals';
import { defer, delay, map, of, takeUntil, tap, timer, type Observable, type ObservableInput } from 'rxjs';
import type { Offset } from '../../src/codecs/scalars.js';
import type { UpdateFormat } from '../../src/codecs/UpdateFormat.js';
import type { UpdatesRequest } from '../../src/codecs/UpdatesRequest.js';
import type { CheckpointStore } from '../../src/process/CheckpointStore.js';
import type {
  BatchHandler,
  BatchProcessOptions,
  Committed,
  Handler,
  ProcessOptions,
  Work,
} from '../../src/process/ProcessOptions.js';
import type { Cursor } from '../../src/process/Cursor.js';
import { fill, updateFormat, upTo, world, type World, type WorldOptions } from '../helpers/world.js';

/** Hashing takes a turn of the real clock, for which virtual time does not wait. */
export const hashAtOnce = (): void => {
  jest.spyOn(crypto.subtle, 'digest').mockImplementation((_, bytes) => {
    const hash$: unknown = of(
      createHash('sha256')
        .update(new Uint8Array(bytes as ArrayBuffer))
        .digest(),
    );
    return hash$ as Promise<ArrayBuffer>;
  });
};

/** What is asked for: from 0 and without an end, unless the test says otherwise. */
export interface Wanted {
  readonly beginExclusive?: Offset;
  readonly endInclusive?: Offset;
  readonly updateFormat?: UpdateFormat;
}

const requestOf = ({ beginExclusive = 0, endInclusive, ...rest }: Wanted = {}): UpdatesRequest => ({
  beginExclusive,
  updateFormat,
  ...(endInclusive !== undefined && { endInclusive }),
  ...rest,
});

/** A world whose ledger is worked on. */
export interface Workshop extends World {
  readonly work: <Tx = void>(
    handler: Handler<NoInfer<Tx>>,
    options?: ProcessOptions<Tx>,
    request?: Wanted,
  ) => Observable<Committed>;
  readonly workInBatches: <Tx = void>(
    handler: BatchHandler<NoInfer<Tx>>,
    options: BatchProcessOptions<Tx>,
    request?: Wanted,
  ) => Observable<Committed>;
}

/** A ledger of so many updates, and who works on it. */
export function workshop(updates = 0, options: WorldOptions = {}): Workshop {
  const given = world({ latencyMs: 5, participantId: 'participant1::1220ab', ...options });
  fill(given.ledger, ...upTo(updates));
  const { client } = given;
  return {
    ...given,
    work: (handler, how, request) => client.process(requestOf(request), handler, how),
    workInBatches: (handler, how, request) => client.process(requestOf(request), handler, how),
  };
}

/** What is done with a store. */
export type Call = 'load' | 'save' | 'park';

/** What goes wrong with a call, by its number among those of its kind; nothing otherwise. */
export type StoreFault = (call: Call, count: number) => ObservableInput<unknown> | undefined;

/** A store without transactions, as small as it may be. */
export class PlainStore implements CheckpointStore {
  /** What is saved, as JSON. */
  json: string | undefined;
  readonly saves: Cursor[] = [];
  readonly aside = new Map<Offset, unknown>();
  readonly calls: Record<Call, number> = { load: 0, save: 0, park: 0 };

  constructor(
    private readonly fault: StoreFault = () => undefined,
    private readonly tookMs = 0,
  ) {}

  get cursor(): Cursor | undefined {
    return this.json === undefined ? undefined : (JSON.parse(this.json) as Cursor);
  }

  /** As if a record had been saved long ago. */
  with(record: unknown): this {
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
    return this.call('park', () => this.aside.set(offset, JSON.parse(JSON.stringify(parked)) as unknown));
  }

  private call(call: Call, act: () => unknown): Observable<unknown> {
    return defer((): ObservableInput<unknown> => {
      const wrong = this.fault(call, (this.calls[call] += 1));
      if (wrong !== undefined) return wrong;
      return this.tookMs === 0 ? defer(() => of(act())) : of(true).pipe(delay(this.tookMs), map(act));
    });
  }
}

/** A handler that takes so many milliseconds, and what it has handled. */
export function worker(tookMs = 0): {
  readonly handled: Offset[];
  readonly begun: Offset[];
  readonly handle: (work: Work) => unknown;
} {
  const begun: Offset[] = [];
  const handled: Offset[] = [];
  const handle = ({ offset }: Work): unknown => {
    begun.push(offset);
    if (tookMs === 0) return handled.push(offset);
    return timer(tookMs).pipe(tap(() => handled.push(offset)));
  };
  return { handled, begun, handle };
}

/** Stops a processor at a virtual time. */
export const until =
  (ms: number) =>
  <A>(source: Observable<A>): Observable<A> =>
    source.pipe(takeUntil(timer(ms)));

export const name = 'balances';
