import { DecodeError } from '../errors/DecodeError.js';
import { OrderError } from '../errors/OrderError.js';
import { inOrder } from './inOrder.js';
import type { Page } from './Page.js';
import type { Range } from './Range.js';
import { readElements } from './readElements.js';

/** An answer, and what it answers. */
export interface Answer {
  readonly path: string;
  readonly json: unknown;
  readonly range: Range;
  readonly limit: number;
  readonly onInvalid: 'fail' | 'emit';
}

/** A page as such: how it came, whoever asked for it knows. */
export type Decoded = Omit<Page, 'tookMs'>;

/** The page that an answer is: decoded and in order, with what is wrong with it behind what is right. */
export function pageOf({ path, json, range, limit, onInvalid }: Answer): Decoded {
  if (!isList(json)) throw new DecodeError(path, [{ path: '', expected: 'a list of updates' }]);
  const elements = readElements(path, json, onInvalid);
  const { updates, last, failure: disorder } = inOrder(elements.updates, range);
  const page = { updates, last, count: json.length, isFull: json.length >= limit };
  const failure = disorder ?? elements.failure ?? stuck(page, range);
  return failure === undefined ? page : { ...page, failure };
}

const isList = (u: unknown): u is readonly unknown[] => Array.isArray(u);

/** A page of a bounded range that leads nowhere would be asked for again and again. */
function stuck(
  { count, last }: Decoded,
  { beginExclusive, endInclusive, descendingOrder }: Range,
): OrderError | undefined {
  if (endInclusive === undefined || count === 0) return undefined;
  const start = descendingOrder === true ? endInclusive + 1 : beginExclusive;
  return last === start ? new OrderError(last, start) : undefined;
}
