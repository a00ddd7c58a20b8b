import { asyncScheduler, concatMap, map, of, tap, type Observable } from 'rxjs';
import type { Update } from '../codecs/Update.js';
import { HandlerError } from '../errors/HandlerError.js';
import type { InvalidUpdate } from '../feed/InvalidUpdate.js';
import { Parked } from './Parked.js';
import { progressAfter, type Progress } from './Progress.js';
import type { Run } from './Run.js';

/** Deals with the first of the updates, which cannot be handled: ends with it, or goes on without it. */
export function givenUp(
  run: Run,
  progress: Progress,
  update: Update | InvalidUpdate,
  cause: unknown,
): Observable<Progress> {
  const { offset } = update;
  const updateId = 'updateId' in update ? update.updateId : undefined;
  const { onPoison, report } = run;
  const { failures: attempts } = progress;
  if (onPoison === 'stop') throw new HandlerError(offset, updateId, attempts, cause);
  const parked = {
    offset,
    updateId,
    update: update._tag === 'InvalidUpdate' ? undefined : update,
    reason: reasonOf(cause),
    attempts,
    parkedAt: new Date(asyncScheduler.now()).toISOString(),
  };
  const next = progressAfter(progress, { done: 1, handled: 0 });
  return run.transactions
    .transact((tx) => {
      const aside$ = onPoison === 'park' ? run.park(offset, Parked.encode(parked), tx) : of(undefined);
      return aside$.pipe(
        concatMap(() => run.save(next.cursor, tx)),
        map(() => next),
      );
    })
    .pipe(
      tap(() => {
        report(() => ({ _tag: onPoison === 'park' ? 'UpdateParked' : 'UpdateSkipped', offset, attempts, cause }));
      }),
    );
}

const reasonOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause));
