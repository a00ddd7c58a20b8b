import { env } from 'node:process';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { asyncScheduler, concatMap, defer, map, NEVER, of, Subject, throwError, timer, type Observable } from 'rxjs';
import { effort } from '../helpers/effort.js';
import { marbles } from '../helpers/time.js';
import { observe, type Observed } from '../helpers/observe.js';
import { fill } from '../helpers/world.js';
import { abortAfter, mockPlatform, name, PlainStore, processWorld, until } from './support.js';
import { MemoryTransactions, type Fate, type Tx } from './transactionalStore.js';

mockPlatform();

/** What may happen to a processor, its handler and its store. */
const schedules = fc.record({
  /** The distance of each update from the one before. */
  gaps: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 60 }),
  /** How many of the updates exist at the start; the others are appended one by one. */
  early: fc.nat({ max: 60 }),
  everyMs: fc.integer({ min: 1, max: 300 }),
  maxPageSize: fc.integer({ min: 1, max: 12 }),
  commitEvery: fc.option(fc.record({ updates: fc.integer({ min: 1, max: 9 }), ms: fc.integer({ min: 1, max: 60 }) }), {
    nil: undefined,
  }),
  batch: fc.option(fc.record({ size: fc.integer({ min: 1, max: 15 }), withinMs: fc.nat({ max: 100 }) }), {
    nil: undefined,
  }),
  /** How long the handler takes: each call takes the next of these times, in turn. */
  worksMs: fc.array(fc.nat({ max: 30 }), { minLength: 1, maxLength: 7 }),
  /** Which calls of the handler fail. */
  handlerFails: fc.uniqueArray(fc.nat({ max: 80 }), { maxLength: 6 }),
  /** The results of saves, or of transactions, one after the other; all others are committed. */
  fates: fc.array(fc.constantFrom<Fate>('committed', 'committed', 'failed', 'lost', 'again'), { maxLength: 25 }),
  savesMs: fc.nat({ max: 20 }),
  /** How long each life of the process lasts, and whether it ends by a kill or a stop; one more life follows. */
  lives: fc.array(fc.record({ ms: fc.integer({ min: 1, max: 700 }), isKilled: fc.boolean() }), { maxLength: 6 }),
  /** When the name is lost. */
  lostAt: fc.uniqueArray(fc.integer({ min: 1, max: 2_000 }), { maxLength: 4 }),
});

type Schedule = typeof schedules extends fc.Arbitrary<infer S> ? S : never;

/** One update, and a process that is stopped at once, whose store fails until the time to stop is over. */
const failsWhileStopping: Schedule = {
  gaps: [1],
  early: 0,
  everyMs: 1,
  maxPageSize: 1,
  commitEvery: undefined,
  batch: undefined,
  worksMs: [0],
  handlerFails: [],
  fates: ['committed', 'failed', 'failed', 'failed', 'failed', 'failed', 'failed'],
  savesMs: 0,
  lives: [{ ms: 10, isKilled: false }],
  lostAt: [],
};

const runs = { numRuns: Number(env['RUNS'] ?? effort(50, 150)), examples: [[failsWhileStopping] as [Schedule]] };

/** How long a processor may take to stop, in milliseconds. */
const stopWithinMs = 5_000;

/** The longest wait before a save is retried, in milliseconds: half of five seconds, by the mock of `Math.random`. */
const longestWaitMs = 2_500;

/** The offsets of a schedule's updates. */
const offsetsOf = ({ gaps }: Schedule): number[] => {
  let at = 0;
  return gaps.map((gap) => (at += gap));
};

/** The store and the handler of one life. */
interface Life {
  readonly store: PlainStore | MemoryTransactions;
  readonly handle: (offset: number, tx: never) => Observable<unknown>;
}

/** Runs the lives of a processor as a schedule says. `begin` starts a life; only what it does while `isAlive` counts. */
function runLives(schedule: Schedule, begin: (isAlive: () => boolean) => Life): void {
  const { maxPageSize, batch, commitEvery, early, everyMs, lives } = schedule;
  marbles(({ flush }) => {
    const all = offsetsOf(schedule);
    const { ledger, service, process, processBatches } = processWorld(0, { latencyMs: 3 });
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
        // a process that is not killed stops by its signal
        const stopping = isKilled ? {} : { signal: abortAfter(ms) };
        const fixed = { store: store as never, name, maxPageSize, stopWithinMs, ...stopping };
        const life$ =
          batch === undefined
            ? process(({ offset }, tx) => handle(offset, tx as never), { ...fixed, commitEvery })
            : processBatches(
                (works, tx) =>
                  works.reduce<Observable<unknown>>(
                    (before$, { offset }) => before$.pipe(concatMap(() => handle(offset, tx as never))),
                    of(true),
                  ),
                { ...fixed, batch },
              );
        seen.push(observe(isKilled ? life$.pipe(until(ms)) : life$));
      });
      // after a stop, the next life begins when the time to stop is over
      at += isKilled ? ms : ms + stopWithinMs + 2;
    }
    flush();
    expect(seen.map(({ error }) => error)).toEqual(seen.map(() => undefined));
    expect(service.open).toBe(0);
  });
}

describe('under any schedule', () => {
  it('each update is handled, in order, and again only if it was not committed (G34)', () => {
    fc.assert(
      fc.property(schedules, (schedule) => {
        const all = offsetsOf(schedule);
        /** The updates that handlers have finished, and the cursor that was saved then. */
        const seen: { readonly offset: number; readonly saved: number }[] = [];
        /** For each life that has left an update unsaved: how long before its end the last save failed. */
        const unsaved: number[] = [];
        /** Where each life begins. */
        const begins: { readonly saved: number; readonly handled: number }[] = [];
        let calls = 0;
        let saves = 0;
        let failedAt = -Infinity;
        let fate: Fate = 'committed';
        let json: string | undefined;
        let last: PlainStore | undefined;
        const savedOffset = (): number =>
          json === undefined ? 0 : (JSON.parse(json) as { readonly offset: number }).offset;
        runLives(schedule, (isAlive) => {
          const [saved, handled] = [savedOffset(), seen.at(-1)?.offset ?? 0];
          begins.push({ saved, handled });
          if (saved < handled) unsaved.push(asyncScheduler.now() - failedAt);
          const store = new PlainStore((call) => {
            if (!isAlive()) return NEVER;
            if (call !== 'save') return undefined;
            fate = schedule.fates[saves++] ?? 'committed';
            if (fate !== 'failed' && fate !== 'again') return undefined;
            failedAt = asyncScheduler.now();
            return throwError(() => new Error('ENOSPC'));
          }, schedule.savesMs);
          const save = store.save.bind(store);
          store.json = json;
          store.save = (_, cursor) =>
            save(_, cursor).pipe(
              map(() => {
                // a process that is killed saves nothing more
                if (isAlive()) json = JSON.stringify(cursor);
                // saved, but the processor gets an error
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
                  seen.push({ offset, saved: savedOffset() });
                  return of(true);
                }),
              );
            });
          return { store, handle };
        });
        expect(last?.cursor?.offset).toBe(all.at(-1));
        // nothing is missing, and what is handled again is after what was committed
        let furthest = 0;
        for (const { offset, saved } of seen) {
          expect(offset).toBeGreaterThan(saved);
          const next = all.find((one) => one > furthest) ?? Infinity;
          expect(offset).toBeLessThanOrEqual(next);
          furthest = Math.max(furthest, offset);
        }
        expect(furthest).toBe(all.at(-1));
        // without a kill, and without a batch that fails, a life leaves an update unsaved only if the save was retried, and
        // failed, until the time to stop was over; nothing else is handled twice
        const isPeaceful = schedule.lives.every(({ isKilled }) => !isKilled) && schedule.batch === undefined;
        if (!isPeaceful) return;
        for (const ms of unsaved) expect(ms).toBeLessThanOrEqual(longestWaitMs + 2);
        const expected = [...begins, { saved: Infinity, handled: furthest }].flatMap(({ handled }, i) => {
          const from = begins[i - 1]?.saved ?? Infinity;
          return all.filter((offset) => offset > from && offset <= handled);
        });
        expect(seen.map(({ offset }) => offset)).toEqual(expected);
      }),
      runs,
    );
  });

  it('in transactions each update has its effect once, in order (G34)', () => {
    fc.assert(
      fc.property(schedules, (schedule) => {
        const all = offsetsOf(schedule);
        let calls = 0;
        let transactions = 0;
        let committed: MemoryTransactions['committed'] | undefined;
        const stores: MemoryTransactions[] = [];
        runLives(schedule, (isAlive) => {
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
          const handle = (offset: number, { effects }: Tx) =>
            defer(() => {
              const n = calls++;
              return timer(schedule.worksMs[n % schedule.worksMs.length] ?? 0).pipe(
                concatMap(() => {
                  if (!isAlive()) return NEVER;
                  if (schedule.handlerFails.includes(n)) return throwError(() => new Error('mine'));
                  return of(effects.push(offset));
                }),
              );
            });
          stores.push(store);
          return { store, handle };
        });
        expect(committed?.effects).toEqual(all);
        expect(JSON.parse(committed?.json ?? '')).toMatchObject({ offset: all.at(-1) });
        for (const { maxOpen, maxHolders, holders } of stores) {
          expect(Math.max(maxOpen, maxHolders)).toBeLessThanOrEqual(1);
          expect(holders).toBe(0);
        }
      }),
      runs,
    );
  });
});
