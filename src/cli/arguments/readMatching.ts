import type * as t from 'io-ts';
import { UsageError } from './UsageError.js';

/** Values that are as the ledger wants them; `expected` tells how. */
export function readMatching<A>(
  option: string,
  texts: readonly string[] | undefined,
  codec: t.Type<A, A>,
  expected: string,
): readonly A[] {
  return (texts ?? []).map((text) => {
    const result = codec.decode(text);
    if (result._tag === 'Right') return result.right;
    throw new UsageError(`--${option} is ${expected}, not '${text}'`);
  });
}
