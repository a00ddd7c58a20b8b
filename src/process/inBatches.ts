import { asyncScheduler, concat, concatMap, defer, of, switchMap, timer } from 'rxjs';
import type { MonoTypeOperatorFunction, Observable } from 'rxjs';
import { atMost } from '../http/atMost.js';
import type { Chunk } from './Chunk.js';
import type { BatchOptions } from './ProcessOptions.js';

/**
 * Puts updates together until there are as many as a batch takes, or the first of them has waited long enough.
 *
 * @param free$ - emits once no more than so many updates wait for the handler: while it is busy, there is time for others
 */
export const inBatches =
  (
    { size, withinMs }: BatchOptions,
    free$: (updates: number) => Observable<unknown>,
  ): MonoTypeOperatorFunction<Chunk> =>
  (source) =>
    defer(() => {
      let held: Chunk | undefined;
      let heldSince = 0;
      return source.pipe(
        // what comes in time is put to what is held, whose timer is set anew
        switchMap((chunk) => {
          if (held === undefined) heldSince = asyncScheduler.now();
          const { full, rest } = split(held === undefined ? chunk : joined(held, chunk), size);
          if (full.length > 0) heldSince = asyncScheduler.now();
          held = rest;
          if (rest === undefined) return of(...full);
          // nothing to wait with, or nothing more to wait for
          const isDue = rest.updates.length === 0 || rest.isLast === true || rest.failure !== undefined;
          const waitMs = heldSince + withinMs - asyncScheduler.now();
          const due$ = defer(() => {
            held = undefined;
            return of(rest);
          });
          return concat(
            full,
            isDue
              ? due$
              : timer(atMost(Math.min(Math.max(0, waitMs), withinMs))).pipe(
                  concatMap(() => free$(rest.updates.length)),
                  concatMap(() => due$),
                ),
          );
        }),
      );
    });

const joined = (held: Chunk, chunk: Chunk): Chunk => ({ ...chunk, updates: [...held.updates, ...chunk.updates] });

/** Full batches, and what is left: a chunk that is the last says how far the ledger is read, also without an update. */
function split(chunk: Chunk, size: number): { readonly full: readonly Chunk[]; readonly rest: Chunk | undefined } {
  const { updates } = chunk;
  const count = Math.floor(updates.length / size);
  const full = Array.from({ length: count }, (_, index): Chunk => {
    const part = updates.slice(index * size, (index + 1) * size);
    return { updates: part, reached: part.at(-1)?.offset ?? chunk.reached, isCaughtUp: false };
  });
  const rest = updates.slice(count * size);
  const isNews = rest.length > 0 || count === 0 || chunk.failure !== undefined;
  const last = full.at(-1);
  if (isNews || last === undefined) return { full, rest: { ...chunk, updates: rest } };
  return {
    full: [...full.slice(0, -1), { ...last, reached: chunk.reached, isCaughtUp: chunk.isCaughtUp }],
    rest: undefined,
  };
}
