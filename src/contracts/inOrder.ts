import { concatMap, type MonoTypeOperatorFunction } from 'rxjs';

/**
 * Emits each value after all subscribers of what is shared have the one before. A subscriber may cause the next value at once: it
 * reads the contracts again, or selects other parties. Without this, the others would get that one first, and keep the former one.
 */
export const inOrder = <A>(): MonoTypeOperatorFunction<A> => concatMap((value) => [value]);
