import { takeUntil, throwIfEmpty, timer, type MonoTypeOperatorFunction } from 'rxjs';
import type { LedgerError } from '../errors/LedgerError.js';
import { atMost } from './atMost.js';

/** Waits so long for a single value, and no longer: unsubscribes from it then and errors. */
export const within =
  <A>(ms: number, late: () => LedgerError): MonoTypeOperatorFunction<A> =>
  (source) =>
    source.pipe(takeUntil(timer(atMost(ms))), throwIfEmpty(late));
