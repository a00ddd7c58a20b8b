import type * as t from 'io-ts';
import { problemsOf } from '../codecs/Problem.js';
import { DecodeError } from '../errors/DecodeError.js';

/** The value of an answer by its codec; throws a {@link DecodeError}. For `map`. */
export const decoded =
  <A>(path: string, codec: t.Type<A, unknown>) =>
  (json: unknown): A => {
    const result = codec.decode(json);
    if (result._tag === 'Left') throw new DecodeError(path, problemsOf(result.left));
    return result.right;
  };
