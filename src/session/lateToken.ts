import { concatMap, from, type Observable, of, takeLast, takeWhile, timer } from 'rxjs';

/** The pauses between the looks for a token, in milliseconds: two seconds together. */
const pausesMs = [0, 50, 150, 300, 500, 1_000];

/**
 * Looks for the token of a sign-in in another tab. What tabs share may come later than the message of that sign-in: another
 * process reads a write to `localStorage` only some time after it. So it looks a few times within two seconds.
 *
 * @param token$ - the token that there is
 * @param isOld - whether a token is one from before the sign-in
 * @returns emits the first token that is not old. If there is none, emits what the last look has found, an old token too: the login
 * service may return the same one
 * @internal
 */
export const lateToken = (
  token$: Observable<string | undefined>,
  isOld: (token: string) => boolean,
): Observable<string | undefined> =>
  from(pausesMs).pipe(
    concatMap((ms) => (ms === 0 ? of(0) : timer(ms)).pipe(concatMap(() => token$))),
    takeWhile((token) => token === undefined || isOld(token), true),
    takeLast(1),
  );
