import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { asyncScheduler, concatMap, defer, map, NEVER, of, Subject, throwError, timer, type Observable } from 'rxjs';
import { marbles } from '../helpers/marbles.js';
import { observe, type Observed } from '../helpers/observe.js';
import { fill } from '../helpers/world.js';
import { hashAtOnce, name, PlainStore, until, workshop } from './support.js';
import { effecting, MemoryTransactions, type Fate } from './transactionalStore.js';

beforeEach(() => {
  hashAtOnce();
  jest.spyOn(Math, 'random').mockReturnValue(0.5);
});
afterEach(() => {
  jest.restoreAllMocks();
});

/** What may happen to a processor and what is around it. */
const schedules = fc.record({
  /** How far each update is behind the one before. */
  gaps: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 60 }),
  /** How many of them are there from the beginning; the others come one by one. */
  early: fc.nat({ max: 60 }),
  everyMs: fc.integer({ min: 1, max: 300 }),
  maxPageSize: fc.integer({ min: 1, max: 12 }),
  commitEvery: fc.option(fc.record({ updates: fc.integer({ min: 1, max: 9 }), ms: fc.integer({ min: 1, max: 60 }) }), {
    nil: undefined,
  }),
  batch: fc.option(fc.record({ size: fc.integer({ min: 1, max: 15 }), withinMs: fc.nat({ max: 100 }) }), {
    nil: undefined,
  }),
  /** How long it takes to handle an update, to the next of them in turn. */
  worksMs: fc.array(fc.nat({ max: 30 }), { minLength: 1, maxLength: 7 }),
  /** Which calls of the handler fail. */
  handlerFails: fc.uniqueArray(fc.nat({ max: 80 }), { maxLength: 6 }),
  /** What becomes of saves, or of transactions, one after the other; then they are committed. */
  fates: fc.array(fc.constantFrom<Fate>('committed', 'committed', 'failed', 'lost', 'again'), { maxLength: 25 }),
  savesMs: fc.nat({ max: 20 }),
  /** How long each life of the process lasts, and whether it then is killed or stopped; the last lasts. */
  lives: fc.array(fc.record({ ms: fc.integer({ min: 1, max: 700 }), isKilled: fc.boolean() }), { maxLength: 6 }),
  /** When the name is lost. */
  lostAt: fc.uniqueArray(fc.integer({ min: 1, max: 2_000 }), { maxLength: 4 }),
});

type Schedule = typeof schedules extends fc.Arbitrary<infer S> ? S : never;

const runs = { numRuns: Number(globalThis.process.env['RUNS'] ?? 150) };

/** The offsets of a schedule's updates. */
const offsetsOf = ({ gaps }: Schedule): number[] => {
  let at = 0;
  return gaps.map((gap) => (at += gap));
};

/**
 * Lets a processor live as often as a schedule says. `begin` makes what one life works with; while it `isAlive`, what it
 * does counts.
 */
function live(
  schedule: Schedule,
  begin: (isAlive: () => boolean) => {
    readonly store: PlainStore | MemoryTransactions;
    readonly handle: (offset: number, tx: never) => Observable<unknown>;
  },
): void {
  const { maxPageSize, batch, early, everyMs, lives } = schedule;
  marbles(({ flush }) => {
    const all = offsetsOf(schedule);
    const { ledger, service, work, workInBatches } = workshop(0, { latencyMs: 3 });
    fill(ledger, ...all.slice(0, early));
    for (const [i, offset] of all.slice(early).entries())
      timer((i + 1) * everyMs).subscribe(() => {
        fill(ledger, offset);
      });
    const seen: Observed<unknown>[] = [];
    let at = 0;
    for (const { ms, isKilled } of [...lives, { ms: 120_000, isKilled: false }]) {
      timer(at).subscribe(() => {
        const diesAt = asyncScheduler.now() + ms;
        const isAlive = (): boolean => !isKilled || asyncScheduler.now() < diesAt;
        const { store, handle } = begin(isAlive);
        const fixed = { store: store as never, name, maxPageSize, stopWithinMs: 5_000 };
        const life$ =
          batch === undefined
            ? work(({ offset }, tx) => handle(offset, tx as never), { ...fixed, commitEvery: schedule.commitEvery })
            : workInBatches(
                (works, tx) =>
                  works.reduce<Observable<unknown>>(
                    (before$, { offset }) => before$.pipe(concatMap(() => handle(offset, tx as never))),
                    of(true),
                  ),
                { ...fixed, batch },
              );
        seen.push(observe(life$.pipe(until(ms))));
      });
      // a process that is stopped in an orderly way is followed when it is over
      at += isKilled ? ms : ms + 5_002;
    }
    flush();
    expect(seen.map(({ error }) => error)).toEqual(seen.map(() => undefined));
    expect(service.open).toBe(0);
  });
}

describe('whatever happens', () => {
  it('each update is handled, in order, and only what was not committed once more', () => {
    fc.assert(
      fc.property(schedules, (schedule) => {
        const all = offsetsOf(schedule);
        /** What handlers have finished, and the place that was saved then. */
        const seen: { readonly offset: number; readonly saved: number }[] = [];
        let calls = 0;
        let saves = 0;
        let fate: Fate = 'committed';
        let json: string | undefined;
        let last: PlainStore | undefined;
        live(schedule, (isAlive) => {
          const store = new PlainStore((call) => {
            if (!isAlive()) return NEVER;
            if (call !== 'save') return undefined;
            fate = schedule.fates[saves++] ?? 'committed';
            if (fate === 'failed' || fate === 'again') return throwError(() => new Error('ENOSPC'));
            return undefined;
          }, schedule.savesMs);
          // what a process that is dead had still in hand is not saved
          const save = store.save.bind(store);
          store.json = json;
          store.save = (_, cursor) =>
            save(_, cursor).pipe(
              map(() => {
                if (isAlive()) json = JSON.stringify(cursor);
                // what the processor does not learn
                if (fate === 'lost') throw new Error('ECONNRESET');
              }),
            );
          last = store;
          const handle = (offset: number): Observable<unknown> =>
            defer(() => {
              const n = calls++;
              if (!isAlive()) return NEVER;
              const fails = schedule.handlerFails.includes(n);
              return timer(schedule.worksMs[n % schedule.worksMs.length] ?? 0).pipe(
                concatMap(() => {
                  if (!isAlive()) return NEVER;
                  if (fails) return throwError(() => new Error('mine'));
                  const saved = json === undefined ? 0 : (JSON.parse(json) as { readonly offset: number }).offset;
                  seen.push({ offset, saved });
                  return of(true);
                }),
              );
            });
          return { store, handle };
        });
        expect(last?.cursor?.offset).toBe(all.at(-1));
        // nothing is missing, and what comes again is behind what was committed
        let furthest = 0;
        for (const { offset, saved } of seen) {
          expect(offset).toBeGreaterThan(saved);
          const next = all.find((one) => one > furthest) ?? Infinity;
          expect(offset).toBeLessThanOrEqual(next);
          furthest = Math.max(furthest, offset);
        }
        expect(furthest).toBe(all.at(-1));
        // without a kill, and without a batch that failed, nothing comes twice
        const isPeaceful = schedule.lives.every(({ isKilled }) => !isKilled) && schedule.batch === undefined;
        if (isPeaceful) expect(seen.map(({ offset }) => offset)).toEqual(all);
      }),
      runs,
    );
  });

  it('in transactions each update has its effect once, in order', () => {
    fc.assert(
      fc.property(schedules, (schedule) => {
        const all = offsetsOf(schedule);
        let calls = 0;
        let transactions = 0;
        let committed: MemoryTransactions['committed'] | undefined;
        const stores: MemoryTransactions[] = [];
        live(schedule, (isAlive) => {
          const lost$ = new Subject<unknown>();
          for (const ms of schedule.lostAt)
            timer(ms).subscribe(() => {
              lost$.next(true);
            });
          const store = new MemoryTransactions(
            () =>
              timer(schedule.savesMs).pipe(
                concatMap(() => (isAlive() ? of(schedule.fates[transactions++] ?? 'committed') : NEVER)),
              ),
            lost$,
            committed,
          );
          ({ committed } = store);
          const handle = effecting(() =>
            defer(() => {
              const n = calls++;
              return timer(schedule.worksMs[n % schedule.worksMs.length] ?? 0).pipe(
                concatMap(() => {
                  if (!isAlive()) return NEVER;
                  return schedule.handlerFails.includes(n) ? throwError(() => new Error('mine')) : of(true);
                }),
              );
            }),
          );
          stores.push(store);
          return { store, handle: (offset, tx) => handle({ offset }, tx) };
        });
        expect(committed?.effects).toEqual(all);
        expect(JSON.parse(committed?.json ?? '')).toMatchObject({ offset: all.at(-1) });
        for (const { mostOpen, mostHolders, holders } of stores) {
          expect(Math.max(mostOpen, mostHolders)).toBeLessThanOrEqual(1);
          expect(holders).toBe(0);
        }
      }),
      runs,
    );
  });
});
