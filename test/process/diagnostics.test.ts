import { describe, expect, it, jest } from '@jest/globals';
import {
  catchError,
  concat,
  concatMap,
  defer,
  map,
  NEVER,
  type Observable,
  of,
  startWith,
  take,
  throwError,
  timer,
} from 'rxjs';
import { acsDelta } from '../../src/codecs/UpdateFormat.js';
import { logTo } from '../../src/diagnostics/logTo.js';
import { HandlerError } from '../../src/errors/process.js';
import type { Transactions } from '../../src/process/CheckpointStore.js';
import type { HandlerResult } from '../../src/process/ProcessOptions.js';
import { observe } from '../helpers/observe.js';
import { marbles } from '../helpers/time.js';
import { mockPlatform, name, PlainStore, processWorld, recordingHandler, until } from './support.js';
import { holdingBy, MemoryTransactions, type Tx } from './transactionalStore.js';

mockPlatform();

const otherFormat = acsDelta({ parties: ['bob::1220ab'] });

/** The diagnostics of these kinds, each with its time in seconds. */
const linesOf = (
  seen: { readonly values: readonly { readonly _tag: string; readonly at: number }[] },
  ...tags: string[]
) => seen.values.filter(({ _tag }) => tags.includes(_tag)).map(({ _tag, at }) => `${Math.round(at / 1_000)} ${_tag}`);

describe('a handler that does not end', () => {
  it('is reported after 30 s, with its processor and its offset', () => {
    marbles(({ flush }) => {
      const { client, process } = processWorld(3);
      const seen = observe(client.diagnostics$);
      const handler = ({ offset }: { readonly offset: number }) => (offset === 2 ? timer(41_000) : of(true));
      observe(process(handler, { store: new PlainStore(), name }).pipe(until(60_000)));
      flush();
      expect(linesOf(seen, 'HandlerDelayed')).toEqual(['30 HandlerDelayed', '35 HandlerDelayed', '40 HandlerDelayed']);
      expect(seen.values.find(({ _tag }) => _tag === 'HandlerDelayed')).toMatchObject({ processor: name, offset: 2 });
    });
  });

  it.each([
    ['an Observable', () => NEVER],
    ['a Promise', () => new Promise<void>(() => undefined)],
  ])('with %s, ends the processor after handlerTimeoutMs, and releases the name', (_, hang) => {
    marbles(({ flush }) => {
      const { process } = processWorld(3);
      const store = new PlainStore();
      const handled: number[] = [];
      const first = observe(
        process(({ offset }) => (offset === 2 ? hang() : of(true)), {
          store,
          name,
          onPoison: 'skip',
          handlerTimeoutMs: 7_000,
        }),
      );
      observe(
        timer(1_000).pipe(
          concatMap(() => process(({ offset }) => void handled.push(offset), { store, name })),
          until(20_000),
        ),
      );
      flush();
      expect(first.error).toBeInstanceOf(HandlerError);
      expect(first.error).toMatchObject({
        offset: 2,
        cause: { message: 'it did not end within 7 s (handlerTimeoutMs)' },
      });
      // no advice to skip the update: those before it may not be committed
      expect(String(first.error)).toMatch(
        /Next: .* every update since the last commit is handled again\n.*#a-slow-handler$/,
      );
      // the update before it may be handled again: this store has no transactions
      expect(handled.slice(-2)).toEqual([2, 3]);
    });
  });

  it('is reported as abandoned if the processor is stopped meanwhile', () => {
    marbles(({ flush }) => {
      const { client, process } = processWorld(3);
      const seen = observe(client.diagnostics$);
      observe(process(() => NEVER, { store: new PlainStore(), name, stopWithinMs: 4_000 }).pipe(until(2_000)));
      flush();
      expect(seen.values.find(({ _tag }) => _tag === 'WorkAbandoned')).toMatchObject({ during: 'handler', offset: 1 });
      expect(linesOf(seen, 'WorkAbandoned', 'FeedEnded')).toEqual(['6 WorkAbandoned', '6 FeedEnded']);
    });
  });
});

describe('a commit that does not end', () => {
  it('is reported after 10 s', () => {
    marbles(({ flush }) => {
      const { client, process } = processWorld(3);
      const seen = observe(client.diagnostics$);
      class SlowStore extends PlainStore {
        override save() {
          return timer(16_000).pipe(map(() => true));
        }
      }
      observe(process(() => undefined, { store: new SlowStore(), name }).pipe(until(15_500)));
      flush();
      expect(linesOf(seen, 'CommitDelayed')).toEqual(['10 CommitDelayed', '15 CommitDelayed']);
    });
  });
});

describe('a rollback that takes long', () => {
  it('counts as a delay of the store, not of the handler that has failed', () => {
    marbles(({ flush }) => {
      const { client, process } = processWorld(3);
      const seen = observe(client.diagnostics$);
      const memory = new MemoryTransactions();
      const transactions: Transactions<Tx> = {
        transact: (work) =>
          memory.transactions
            .transact(work)
            .pipe(catchError((error: unknown) => timer(14_000).pipe(concatMap(() => throwError(() => error))))),
      };
      const store = holdingBy(memory, () => NEVER.pipe(startWith(transactions)), transactions);
      const handler = () => timer(5_000).pipe(concatMap(() => throwError(() => new Error('mine'))));
      const options = { store, name, handlerTimeoutMs: 8_000, handlerRetry: { giveUpAfterMs: 0 } };
      const processed = observe(process(handler, options));
      flush();
      expect(processed.error).toMatchObject({ _tag: 'HandlerError', cause: { message: 'mine' } });
      expect(linesOf(seen, 'HandlerDelayed', 'CommitDelayed', 'FeedEnded')).toEqual([
        '18 CommitDelayed',
        '19 FeedEnded',
      ]);
    });
  });
});

describe('the role of a processor', () => {
  it('is that of a leader, and that of a standby which has checked its cursor', () => {
    marbles(({ flush }) => {
      const { client, process } = processWorld(3);
      const store = new PlainStore();
      const seen = observe(client.diagnostics$);
      const leader = observe(process(() => undefined, { store, name }).pipe(until(5_000)));
      const standby = observe(
        timer(1_000).pipe(
          concatMap(() => process(() => undefined, { store, name })),
          until(9_000),
        ),
      );
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
      const standby = observe(
        timer(1_000).pipe(
          concatMap(() => process(() => undefined, { store: failing, name })),
          until(9_000),
        ),
      );
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
      const other = observe(
        timer(1_000).pipe(concatMap(() => process(() => undefined, { store, name }, { updateFormat: otherFormat }))),
      );
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
      const prepare = jest.fn(() => {
        count += 1;
        if (count < 3) throw new Error('the tables are not there yet');
        return of(true);
      });
      observe(
        process(
          Object.assign(() => undefined, { prepare }),
          { store: new PlainStore(), name },
        ).pipe(until(9_000)),
      );
      flush();
      const lines = seen.values.flatMap((it) => {
        if (it._tag === 'RoleChanged') return it.role;
        return it._tag === 'RetryScheduled' ? it.cause.message.split('\n') : [];
      });
      expect(lines).toEqual([
        'starting',
        ...Array.from({ length: 2 }, () => [
          'The store failed: the tables are not there yet',
          'Operation: prepare',
          'Processor: balances',
          'Runbook: docs/runbook.md#storeerror',
        ]).flat(),
        'leader',
      ]);
    });
  });
});

describe('the diagnostics of a processor', () => {
  /** The feed and the tag of each diagnostic, on a ledger that does not answer the first requests. */
  const diagnosticsOf = (unanswered: number, untilMs: number): string[] => {
    let lines: string[] = [];
    marbles(({ flush }) => {
      const { client, process } = processWorld(40, {
        fault: (_, count) => (count <= unanswered ? new Error('ECONNREFUSED') : undefined),
      });
      const seen = observe(client.diagnostics$);
      observe(process(recordingHandler().handle, { store: new PlainStore(), name }).pipe(until(untilMs)));
      flush();
      lines = seen.values.map(({ _tag, feed }) => `${String(feed)} ${_tag}`);
    });
    return lines;
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
      observe(process(recordingHandler().handle).pipe(take(2)));
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

type Process = ReturnType<typeof processWorld>['process'];
type Options = NonNullable<Parameters<Process>[1]>;

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

const storeFailures = [5_000, 0].flatMap((giveUpAfterMs) =>
  (['hold', 'load', 'save'] as const).flatMap((call) => {
    const options = (result$: Observable<never>): object => ({
      name,
      store: failing(call, result$),
      retry: { giveUpAfterMs },
      storeTimeoutMs: 1_000,
    });
    const cases: [string, object][] = [[`${call} fails, retried for ${giveUpAfterMs} ms`, options(down)]];
    // a processor may wait for its name for any time
    if (call !== 'hold') cases.push([`${call} hangs, retried for ${giveUpAfterMs} ms`, options(NEVER)]);
    return cases;
  }),
);

/** The ends that are reported, the error lines that are logged, and the error that the subscriber receives. */
function endOf(handler: () => HandlerResult, options: object, participant: object = {}): object {
  const errors: string[] = [];
  const ends: unknown[] = [];
  let error: unknown;
  marbles(({ flush }) => {
    const { client, process } = processWorld(3, participant);
    const skip = (): void => undefined;
    client.diagnostics$.subscribe(logTo({ info: skip, warn: skip, error: (line) => errors.push(line) }));
    client.diagnostics$.subscribe((diagnostic) => {
      if (diagnostic._tag === 'FeedEnded') ends.push({ how: diagnostic.how, error: diagnostic.error });
    });
    const seen = observe(process(handler, options as Options).pipe(until(200_000)));
    flush();
    ({ error } = seen);
  });
  return { ends, errors, error };
}

describe('the end of a processor', () => {
  it.each<[string, () => HandlerResult, object]>([
    ['the handler fails', fail, {}],
    ['the handler fails and is not retried', fail, { handlerRetry: { giveUpAfterMs: 0 } }],
    ['the handler fails with a store', fail, { name, store: new PlainStore() }],
    ...storeFailures.map(([title, options]): [string, () => HandlerResult, object] => [
      title,
      () => undefined,
      options,
    ]),
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
      errors: [expect.stringContaining('answered 403: no')],
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
