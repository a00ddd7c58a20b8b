import type * as t from 'io-ts';
import { problemsOf } from '../codecs/Problem.js';
import { InvalidRequestError } from '../errors/InvalidRequestError.js';

/** A request with all that the ledger wants said, by its codec; throws an {@link InvalidRequestError}. */
export function checked<A>(codec: t.Type<A, unknown>, request: unknown): A {
  const result = codec.decode(request);
  if (result._tag === 'Left') throw new InvalidRequestError(problemsOf(result.left));
  return result.right;
}
