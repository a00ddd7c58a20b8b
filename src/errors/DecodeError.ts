import type { Offset } from '../codecs/Offset.js';
import { formatProblem, type Problem } from '../codecs/Problem.js';
import { hasTag } from './internal/hasTag.js';
import { lines } from './internal/lines.js';

/** The service answered what this version cannot read. It says where and what was expected, never what was found. */
export class DecodeError extends Error {
  /** The class's name. */
  override readonly name = 'DecodeError' as const;
  /** Tells the errors apart. */
  readonly _tag = 'DecodeError' as const;

  constructor(
    /** The path of the request. */
    readonly path: string,
    /** The places that do not decode, of a list about a hundred at most. */
    readonly problems: readonly Problem[],
    /** The offset of the update that does not decode, where it can be read. */
    readonly offset?: Offset,
  ) {
    super(
      [lines('The answer does not decode.', { Offset: offset, Path: path }), ...problems.map(formatProblem)].join('\n'),
    );
  }
}

/** Whether a value is a {@link DecodeError}. */
export const isDecodeError = (u: unknown): u is DecodeError => hasTag(u, 'DecodeError');
