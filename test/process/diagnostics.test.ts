import { describe, expect, it } from '@jest/globals';
import { catchError, concat, concatMap, defer, map, NEVER, of, startWith, take, throwError, timer } from 'rxjs';
import type { MonoTypeOperatorFunction, Observable } from 'rxjs';
import { acsDelta } from '../../src/codecs/UpdateFormat.js';
import type { Diagnostic } from '../../src/diagnostics/Diagnostic.js';
import { logTo } from '../../src/diagnostics/logTo.js';
import { HandlerError } from '../../src/errors/process.js';
import type { Transactions } from '../../src/process/CheckpointStore.js';
import type { HandlerResult, Work } from '../../src/process/ProcessOptions.js';
import { observe } from '../helpers/observe.js';
import { marbles } from '../helpers/time.js';
import { upTo, type WorldOptions } from '../helpers/world.js';
import { mockPlatform, name, PlainStore, processWorld, run, stopProcessAt, until } from './support.js';
import { holdingBy, MemoryTransactions, type Tx } from './transactionalStore.js';

mockPlatform();

/** Subscribes after some milliseconds. */
const delaySubscription =
  <A>(ms: number): MonoTypeOperatorFunction<A> =>
  (source) =>
    timer(ms).pipe(concatMap(() => source));

const otherFormat = acsDelta({ parties: ['bob::1220ab'] });

/** The diagnostics of these kinds, each with its time in seconds. */
const linesOf = (values: readonly Diagnostic[], ...tags: string[]) =>
  values.filter(({ _tag }) => tags.includes(_tag)).map(({ _tag, at }) => `${Math.round(at / 1_000)} ${_tag}`);

describe('a handler that does not end', () => {
  it('is reported after 30 s, with its processor and its offset', () => {
    const handle = ({ offset }: Work) => (offset === 2 ? timer(41_000) : of(true));
    const { diagnostics } = run({ updates: 3, handle, ms: 60_000 });
    const lines = ['30 HandlerDelayed', '35 HandlerDelayed', '40 HandlerDelayed'];
    expect(linesOf(diagnostics, 'HandlerDelayed')).toEqual(lines);
    expect(diagnostics.find(({ _tag }) => _tag === 'HandlerDelayed')).toMatchObject({ processor: name, offset: 2 });
  });

  it.each([
    ['an Observable', () => NEVER],
    ['a Promise', () => new Promise<void>(() => undefined)],
  ])('with %s, ends the processor after handlerTimeoutMs, and releases the name', (_, hang) => {
    marbles(({ flush }) => {
      const { process } = processWorld(3);
      const store = new PlainStore();
      const handled: number[] = [];
      const handle = ({ offset }: Work) => (offset === 2 ? hang() : of(true));
      const first = observe(process(handle, { store, name, onHandlerFailure: 'skip', handlerTimeoutMs: 7_000 }));
      const second$ = process(({ offset }) => void handled.push(offset), { store, name });
      observe(second$.pipe(delaySubscription(1_000), until(20_000)));
      flush();
      const cause = { message: 'it did not end within 7 s (handlerTimeoutMs)' };
      expect(first.error).toBeInstanceOf(HandlerError);
      expect(first.error).toMatchObject({ offset: 2, cause });
      // no advice to skip the update: those before it may not be committed
      expect(String(first.error)).toMatch(
        /Next: .* every update since the last commit is handled again\n.*#a-slow-handler$/,
      );
      // the update before it may be handled again: this store has no transactions
      expect(handled.slice(-2)).toEqual([2, 3]);
    });
  });

  it.each([
    ['in the call that is slow', 3_000],
    ['right before the next call begins', 5_999],
  ])('and one that does is not late because its process was stopped: %s', (_, stopAt) => {
    const { error, handled, seen } = run({
      updates: 3,
      prepare: () => {
        stopProcessAt(300_000, stopAt);
      },
      handle: (update, record) => timer(6_000).pipe(map(() => record(update))),
      options: { handlerTimeoutMs: 7_000 },
      ms: 60_000,
    });
    expect(error).toBeUndefined();
    expect(handled).toEqual([1, 2, 3]);
    expect(seen.completed).toBe(true);
  });

  it.each([
    ['once, at first', [3_000]],
    ['again and again', upTo(20).map((n) => n * 3_000)],
  ])('ends the processor also if the process is stopped %s', (_, times) => {
    const { error, seen } = run({
      prepare: () => {
        stopProcessAt(20_000, ...times);
      },
      handle: () => NEVER,
      options: { handlerTimeoutMs: 7_000 },
    });
    expect(error).toBeInstanceOf(HandlerError);
    expect(seen.endedAt).toBeLessThan(20_000);
  });

  it('is reported as abandoned if the processor is stopped meanwhile', () => {
    const { diagnostics } = run({ updates: 3, handle: () => NEVER, options: { stopWithinMs: 4_000 }, abortAt: 2_000 });
    expect(diagnostics.find(({ _tag }) => _tag === 'WorkAbandoned')).toMatchObject({ during: 'handler', offset: 1 });
    expect(linesOf(diagnostics, 'WorkAbandoned', 'FeedEnded')).toEqual(['6 WorkAbandoned', '6 FeedEnded']);
  });
});

describe('a commit that does not end', () => {
  it('is reported after 10 s', () => {
    const store = new PlainStore((call) => (call === 'save' ? timer(16_000) : undefined));
    const { diagnostics } = run({ updates: 3, store, ms: 15_500 });
    expect(linesOf(diagnostics, 'CommitDelayed')).toEqual(['10 CommitDelayed', '15 CommitDelayed']);
  });
});

describe('a rollback that takes long', () => {
  it('counts as a delay of the store, not of the handler that has failed', () => {
    const memory = new MemoryTransactions();
    const transactions: Transactions<Tx> = {
      transact: (work) =>
        memory.transactions
          .transact(work)
          .pipe(catchError((error: unknown) => timer(14_000).pipe(concatMap(() => throwError(() => error))))),
    };
    const { error, diagnostics } = run({
      updates: 3,
      store: holdingBy(memory, () => NEVER.pipe(startWith(transactions)), transactions),
      handle: () => timer(5_000).pipe(concatMap(() => throwError(() => new Error('mine')))),
      options: { handlerTimeoutMs: 8_000, handlerRetry: { giveUpAfterMs: 0 } },
    });
    expect(error).toMatchObject({ _tag: 'HandlerError', cause: { message: 'mine' } });
    const lines = linesOf(diagnostics, 'HandlerDelayed', 'CommitDelayed', 'FeedEnded');
    expect(lines).toEqual(['18 CommitDelayed', '19 FeedEnded']);
  });
});

describe('the role of a processor', () => {
  it('is that of a leader, and that of a standby which has checked its cursor', () => {
    marbles(({ flush }) => {
      const { client, process } = processWorld(3);
      const store = new PlainStore();
      const seen = observe(client.diagnostics$);
      const leader = observe(process(() => undefined, { store, name }).pipe(until(5_000)));
      const second$ = process(() => undefined, { store, name });
      const standby = observe(second$.pipe(delaySubscription(1_000), until(9_000)));
      flush();
      expect(leader.values.map(({ role }) => role)).not.toContain('standby');
      expect(standby.values[0]).toMatchObject({ role: 'standby', offset: 3, handled: 0, isCaughtUp: false });
      expect(standby.values.slice(1).map(({ role }) => role)).not.toContain('standby');
      const roles = seen.values.flatMap((it) => (it._tag === 'RoleChanged' ? `${String(it.feed)} ${it.role}` : []));
      expect(roles).toEqual(['1 starting', '1 leader', '2 starting', '2 standby', '2 leader']);
    });
  });

  it('is starting while a standby cannot reach its store', () => {
    marbles(({ flush }) => {
      const { process } = processWorld(3);
      const store = new MemoryTransactions();
      observe(process(() => undefined, { store, name }).pipe(until(500)));
      let count = 0;
      const failing = holdingBy(store, (_, standBy) =>
        defer(() => {
          count += 1;
          if (count !== 2) standBy?.();
          return count > 2 ? NEVER : timer(1_000).pipe(concatMap(() => throwError(() => new Error('no answer'))));
        }),
      );
      const second$ = process(() => undefined, { store: failing, name });
      const standby = observe(second$.pipe(delaySubscription(1_000), until(9_000)));
      flush();
      expect(standby.values.map(({ role, offset }) => `${role} ${offset}`)).toEqual([
        'standby 3',
        'starting 3',
        'standby 3',
      ]);
    });
  });

  it('is no standby if the cursor is one of another request: the processor ends at once', () => {
    marbles(({ flush }) => {
      const { process } = processWorld(3);
      const store = new PlainStore();
      observe(process(() => undefined, { store, name }).pipe(until(60_000)));
      const other$ = process(() => undefined, { store, name }, { updateFormat: otherFormat });
      const other = observe(other$.pipe(delaySubscription(1_000)));
      flush();
      expect(other.error).toMatchObject({ _tag: 'CursorError', reason: 'selection' });
      expect(other.values).toEqual([]);
    });
  });

  it('remains starting while its handler cannot be prepared', () => {
    marbles(({ flush }) => {
      const { client, process } = processWorld(3);
      const seen = observe(client.diagnostics$);
      let count = 0;
      const prepare = () => {
        if ((count += 1) < 3) throw new Error('the tables are not there yet');
        return of(true);
      };
      const handler = Object.assign(() => undefined, { prepare });
      observe(process(handler, { store: new PlainStore(), name }).pipe(until(9_000)));
      flush();
      const lines = seen.values.flatMap((it) => {
        if (it._tag === 'RoleChanged') return it.role;
        return it._tag === 'RetryScheduled' ? it.cause.message.split('\n') : [];
      });
      const failure = [
        'The store failed: the tables are not there yet',
        'Operation: prepare',
        'Processor: balances',
        'Runbook: https://unpkg.com/canton-rx/docs/runbook.md#storeerror',
      ];
      expect(lines).toEqual(['starting', ...failure, ...failure, 'leader']);
    });
  });
});

describe('the diagnostics of a processor', () => {
  /** The feed and the tag of each diagnostic, on a ledger that does not answer the first requests. */
  const diagnosticsOf = (unanswered: number, ms: number): readonly string[] => {
    const fault = (_: unknown, count: number) => (count <= unanswered ? new Error('ECONNREFUSED') : undefined);
    const { diagnostics } = run({ updates: 40, world: { fault }, ms });
    return diagnostics.map(({ _tag, feed }) => `${String(feed)} ${_tag}`);
  };

  it('are of one feed, also if requests are retried before the processor can resume', () => {
    const lines = diagnosticsOf(2, 5_000);
    const found = lines.filter((line) => !['1 RoleChanged', '1 CommitSaved'].includes(line));
    expect(found.slice(0, 3)).toEqual(['1 RetryScheduled', '1 RetryScheduled', '1 FeedStarted']);
    expect(lines.filter((line) => !line.startsWith('1 '))).toEqual([]);
    expect(lines.at(-1)).toBe('1 FeedEnded');
  });

  it('report one end, also if the subscriber unsubscribes at one of many synchronous values', () => {
    marbles(({ flush }) => {
      const { client, process } = processWorld(40, { latencyMs: 0 });
      const seen = observe(client.diagnostics$);
      observe(process(() => undefined).pipe(take(2)));
      flush();
      expect(seen.values.filter(({ _tag }) => _tag === 'FeedEnded')).toMatchObject([{ feed: 1, how: 'unsubscribed' }]);
    });
  });

  it('report the end, also if the processor is unsubscribed before it can resume', () => {
    const lines = diagnosticsOf(Infinity, 3_000);
    expect(new Set(lines.slice(0, -1))).toEqual(new Set(['1 RoleChanged', '1 RetryScheduled']));
    expect(lines.at(-1)).toBe('1 FeedEnded');
  });
});

const down = throwError(() => new Error('the database is down'));

/** A transactional store of which one call fails, or does not answer. */
const failing = (call: 'hold' | 'load' | 'save', result$: Observable<never>): object => ({
  hold: () =>
    call === 'hold' ? result$ : concat(of<Transactions<string>>({ transact: (inside) => inside('tx') }), NEVER),
  load: () => (call === 'load' ? result$ : of()),
  save: () => (call === 'save' ? result$ : of(undefined)),
});

const fail = (): never => {
  throw new Error('no such table');
};

type Row = readonly [title: string, handler: () => HandlerResult, options: object];

const storeFailures = (['hold', 'load', 'save'] as const).flatMap((call) =>
  [5_000, 0].flatMap((giveUpAfterMs) => {
    const row = (how: string, result$: Observable<never>): Row => {
      const options = { name, store: failing(call, result$), storeRetry: { giveUpAfterMs }, storeTimeoutMs: 1_000 };
      return [`${call} ${how}, retried for ${giveUpAfterMs} ms`, () => undefined, options];
    };
    // a processor may wait for its name for any time
    return [row('fails', down), ...(call === 'hold' ? [] : [row('hangs', NEVER)])];
  }),
);

/** The ends that are reported, the error lines that are logged, and the error that the subscriber receives. */
function endOf(handler: () => HandlerResult, options: object, participant: WorldOptions = {}): object {
  const errors: string[] = [];
  const ends: unknown[] = [];
  return marbles(({ flush }) => {
    const { client, process } = processWorld(3, participant);
    const skip = (): void => undefined;
    client.diagnostics$.subscribe(logTo({ info: skip, warn: skip, error: (line) => errors.push(line) }));
    client.diagnostics$.subscribe((diagnostic) => {
      if (diagnostic._tag === 'FeedEnded') ends.push({ how: diagnostic.how, error: diagnostic.error });
    });
    const seen = observe(process(handler, options).pipe(until(200_000)));
    flush();
    return { ends, errors, error: seen.error };
  });
}

describe('the end of a processor', () => {
  it.each<Row>([
    ['the handler fails', fail, {}],
    ['the handler fails and is not retried', fail, { handlerRetry: { giveUpAfterMs: 0 } }],
    ['the handler fails with a store', fail, { name, store: new PlainStore() }],
    ...storeFailures,
  ])('with an error is reported and logged once: %s', (_, handler, options) => {
    const end = endOf(handler, options);
    const error: unknown = expect.objectContaining({ _tag: expect.stringMatching(/^(Handler|Store)Error$/) });
    expect(end).toEqual({
      ends: [{ how: 'failed', error }],
      errors: [
        expect.stringMatching(
          /^canton-rx: (?:feed 1|processor balances): ended with an error: The (handler|store) failed/,
        ),
      ],
      error,
    });
  });

  it('is reported and logged once if the ledger refuses the updates', () => {
    const refusal = { status: 403, headers: {}, text: 'no' };
    expect(endOf(() => undefined, {}, { fault: () => refusal })).toMatchObject({
      ends: [{ how: 'failed', error: { _tag: 'ApiError' } }],
      errors: [expect.stringContaining('answered 403, but not as a ledger: no')],
    });
  });

  it('is reported once if the store fails for a while and the processor is then stopped', () => {
    let failures = 0;
    const store = new PlainStore((call) => (call === 'save' && (failures += 1) < 3 ? down : undefined));
    expect(endOf(() => undefined, { name, store })).toEqual({
      ends: [{ how: 'unsubscribed', error: undefined }],
      errors: [],
      error: undefined,
    });
  });
});
