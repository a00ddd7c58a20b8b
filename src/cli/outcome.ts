import {
  catchError,
  EMPTY,
  endWith,
  fromEvent,
  ignoreElements,
  map,
  merge,
  mergeMap,
  type Observable,
  of,
  take,
} from 'rxjs';
import { hasCode } from '../file/durable.js';
import { flush, type Output } from './output.js';
import { interruptions, type World } from './World.js';

/** How a command that prints ended: by itself, by a signal, by a closed or an unwritable stdout, or by an error. */
export type Outcome =
  | { readonly kind: 'done' }
  | { readonly kind: 'interrupted' }
  | { readonly kind: 'closed' }
  | { readonly kind: 'unwritable'; readonly error: unknown }
  | { readonly kind: 'failed'; readonly error: unknown };

/**
 * Runs a command that prints until it completes or fails, a signal arrives or stdout closes. Emits how it ended, once, when
 * stdout has passed on what was written: only then is it printed.
 *
 * @param shown$ - what runs meanwhile, such as a status line; it never completes
 */
export function runToEnd(
  { stdout, signals }: Pick<World, 'stdout' | 'signals'>,
  printed$: Observable<unknown>,
  shown$: Observable<unknown> = EMPTY,
): Observable<Outcome> {
  const broken$ = fromEvent(stdout, 'error').pipe(map(outputOutcome));
  const interrupted$ = interruptions(signals).pipe(map((): Outcome => ({ kind: 'interrupted' })));
  const ended$ = printed$.pipe(
    ignoreElements(),
    endWith<Outcome>({ kind: 'done' }),
    catchError((error: unknown) => of<Outcome>({ kind: 'failed', error })),
  );
  return merge(broken$, interrupted$, ended$, shown$.pipe(ignoreElements())).pipe(
    take(1),
    mergeMap((outcome) => finish(outcome, stdout)),
  );
}

function finish(outcome: Outcome, stdout: Output): Observable<Outcome> {
  if (outcome.kind === 'closed' || outcome.kind === 'unwritable') return of(outcome);
  return flush(stdout).pipe(
    endWith(outcome),
    catchError((error: unknown) => of(outputOutcome(error))),
  );
}

/** The outcome of an error of stdout: the reader closed the pipe, as `head -1` does, or writing failed, as on a full disk. */
const outputOutcome = (error: unknown): Outcome =>
  hasCode(error, 'EPIPE') ? { kind: 'closed' } : { kind: 'unwritable', error };
