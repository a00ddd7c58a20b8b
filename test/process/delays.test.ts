import { describe, expect, it, jest } from '@jest/globals';
import { catchError, concatMap, defer, map, NEVER, of, startWith, throwError, timer } from 'rxjs';
import { acsDelta } from '../../src/codecs/UpdateFormat.js';
import { HandlerError } from '../../src/errors/process.js';
import type { Transactions } from '../../src/process/CheckpointStore.js';
import { observe } from '../helpers/observe.js';
import { marbles } from '../helpers/time.js';
import { mockPlatform, PlainStore, processWorld, until } from './support.js';
import { holdingBy, MemoryTransactions, type Tx } from './transactionalStore.js';

mockPlatform();

const name = 'balances';
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
