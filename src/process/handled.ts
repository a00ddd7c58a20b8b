import { asyncScheduler, catchError, concat, concatMap, defer, EMPTY, from, ignoreElements, map, of } from 'rxjs';
import { queueScheduler, subscribeOn, tap, type Observable } from 'rxjs';
import type { Update } from '../codecs/Update.js';
import { DecodeError } from '../errors/DecodeError.js';
import type { InvalidUpdate } from '../feed/InvalidUpdate.js';
import { awaited } from './awaited.js';
import type { Work } from './Handler.js';
import { HandlerFailure, type Done } from './HandlerFailure.js';
import type { Run } from './Run.js';

type Updates = readonly (Update | InvalidUpdate)[];

/**
 * Hands updates over, one after the other or all at once, and emits how far that went: not all the way where it has taken
 * long enough, or where the processor is to stop. Fails with a {@link HandlerFailure}.
 */
export const handled = (run: Run, updates: Updates, tx: unknown): Observable<Done> =>
  run.takesBatches ? handledAtOnce(run, updates, tx) : handledEach(run, updates, tx);

const handledEach = (run: Run, updates: Updates, tx: unknown): Observable<Done> =>
  defer(() => {
    const startedAt = asyncScheduler.now();
    let begunAt = startedAt;
    let so: Done = { done: 0, handled: 0 };
    const isOver = (): boolean =>
      run.isStopped() || (so.done > 0 && Math.abs(asyncScheduler.now() - startedAt) >= run.commitEveryMs);
    const each$ = from(updates).pipe(
      concatMap((update) => {
        if (isOver()) return EMPTY;
        return defer(() => {
          const work = concerning(run, update);
          return work === undefined ? of(0) : awaited(run.handle(work, tx)).pipe(map(() => 1));
        }).pipe(
          // queued, for what takes no time would nest behind what does
          subscribeOn(queueScheduler),
          tap((one) => {
            so = { done: so.done + 1, handled: so.handled + one };
            begunAt = asyncScheduler.now();
          }),
        );
      }),
      catchError((error: unknown) => {
        throw new HandlerFailure(error, asyncScheduler.now() - begunAt, so);
      }),
    );
    return concat(
      each$.pipe(ignoreElements()),
      defer(() => of(so)),
    );
  });

const handledAtOnce = (run: Run, updates: Updates, tx: unknown): Observable<Done> =>
  defer(() => {
    const begunAt = asyncScheduler.now();
    return defer(() => {
      if (run.isStopped()) return of({ done: 0, handled: 0 });
      const work = updates.map((update) => concerning(run, update)).filter((update) => update !== undefined);
      const result$ = work.length === 0 ? of(undefined) : awaited(run.handle(work, tx));
      return result$.pipe(map(() => ({ done: updates.length, handled: work.length })));
    }).pipe(
      catchError((error: unknown) => {
        throw new HandlerFailure(error, asyncScheduler.now() - begunAt);
      }),
    );
  });

/** The update, if the handler is to have it. */
function concerning({ select, path }: Run, update: Update | InvalidUpdate): Work | undefined {
  if (update._tag === 'OffsetCheckpoint') return undefined;
  if (update._tag === 'InvalidUpdate') throw new DecodeError(path, update.problems, update.offset);
  return select(update) ? update : undefined;
}
