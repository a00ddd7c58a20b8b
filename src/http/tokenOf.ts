import { defer, map, take, type Observable } from 'rxjs';
import { TokenError } from '../errors/TokenError.js';
import type { Token } from './Link.js';
import { mapError } from './mapError.js';
import { within } from './within.js';

/** The token to send now. Errors with a {@link TokenError} where the provider has none within the time. */
export const tokenOf = (token: Token, withinMs: number): Observable<string> =>
  defer(() => {
    const given = typeof token === 'string' ? token : token();
    return typeof given === 'string' ? [given] : given;
  }).pipe(
    take(1),
    // what the provider says of its failure may be secret
    mapError(() => new TokenError('the provider failed')),
    within(withinMs, () => new TokenError('the provider gave none in time')),
    map(checked),
  );

/** Whatever the types say: a provider may well hand on the `undefined` of an answer that it did not check. */
function checked(token: unknown): string {
  if (typeof token === 'string' && /^[\x21-\x7e]+$/.test(token)) return token;
  throw new TokenError('the provider gave no token');
}
