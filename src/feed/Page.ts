import { problemsOf } from '../codecs/Problem.js';
import type { Offset } from '../codecs/scalars.js';
import { offsetOfElement, type Update, UpdateElement } from '../codecs/Update.js';
import { DecodeError, OrderError } from '../errors/feed.js';
import type { LedgerError } from '../errors/LedgerError.js';
import type { InvalidUpdate } from './UpdatesOptions.js';

/** The decoded and ordered content of one response, up to the first invalid element. */
export interface Page {
  /** The updates in order, all within the requested range. */
  readonly updates: readonly (Update | InvalidUpdate)[];
  /** The number of elements that the participant sent. */
  readonly count: number;
  /** Whether the participant sent as many elements as the limit allows. */
  readonly isFull: boolean;
  /** The offset of the last element, even if it is beyond the range; the start of the range if there is none. */
  readonly last: Offset;
  /** How long the response took, in milliseconds. */
  readonly tookMs: number;
  /** The error that ends the feed after these updates. */
  readonly failure?: LedgerError;
}

/** A range of the ledger, and the direction in which to read it. */
export interface Range {
  readonly beginExclusive: Offset;
  readonly endInclusive?: Offset;
  readonly descendingOrder?: boolean;
}

/** A page without the time that its request took. */
export type DecodedPage = Omit<Page, 'tookMs'>;

/** A response and its request. */
interface Answer {
  readonly path: string;
  readonly json: unknown;
  readonly range: Range;
  readonly limit: number;
  readonly onInvalid: 'fail' | 'emit';
}

/** Decodes a response and checks its order. If that fails, the page contains the updates before the failure. */
export function toPage({ path, json, range, limit, onInvalid }: Answer): DecodedPage {
  if (!isList(json)) throw new DecodeError(path, [{ path: '', expected: 'a list of updates' }]);
  const elements = decodeElements(path, json, onInvalid);
  const { updates, last, failure: disorder } = checkOrder(elements.updates, range);
  const page = { updates, last, count: json.length, isFull: json.length >= limit };
  const failure = disorder ?? elements.failure ?? checkProgress(page, range);
  return failure === undefined ? page : { ...page, failure };
}

const isList = (u: unknown): u is readonly unknown[] => Array.isArray(u);

/** The decoded elements of a response, up to the first failure. */
interface DecodedElements {
  readonly updates: readonly (Update | InvalidUpdate)[];
  readonly failure?: DecodeError;
}

/** Decodes each element of a response. */
export function decodeElements(path: string, json: readonly unknown[], onInvalid: 'fail' | 'emit'): DecodedElements {
  const updates: (Update | InvalidUpdate)[] = [];
  for (const element of json) {
    const result = UpdateElement.decode(element);
    if (result._tag === 'Right') {
      updates.push(result.right);
      continue;
    }
    const problems = problemsOf(result.left);
    const offset = offsetOfElement(element);
    // the cursor cannot move past an element without an offset
    if (onInvalid === 'fail' || offset === undefined)
      return { updates, failure: new DecodeError(path, problems, offset) };
    updates.push({ _tag: 'InvalidUpdate', offset, problems });
  }
  return { updates };
}

/** The elements of a range in order, or the error of the first element that is out of order. */
interface OrderedElements {
  readonly updates: readonly (Update | InvalidUpdate)[];
  /** The offset of the last element, even if it is beyond the range; the start of the range if there is none. */
  readonly last: Offset;
  /** The offset of the last element that is not a checkpoint; the start of the range if there is none. */
  readonly lastUpdate: Offset;
  readonly failure?: OrderError;
}

/**
 * Checks the order of all elements before the feed emits any: a subscriber that resumes after an offset that came too
 * early would lose the updates before it. Drops repeated updates and elements outside the range.
 *
 * @param previous - the result for the preceding elements; absent for the first elements of a range
 */
export function checkOrder(
  elements: readonly (Update | InvalidUpdate)[],
  range: Range,
  previous?: Pick<OrderedElements, 'last' | 'lastUpdate'>,
): OrderedElements {
  const { beginExclusive, endInclusive = Infinity, descendingOrder = false } = range;
  const start = descendingOrder ? endInclusive + 1 : beginExclusive;
  const distance = (from: Offset, to: Offset): number => (descendingOrder ? from - to : to - from);
  const updates: (Update | InvalidUpdate)[] = [];
  let { last, lastUpdate } = previous ?? { last: start, lastUpdate: start };
  for (const element of elements) {
    const { offset } = element;
    const isCheckpoint = element._tag === 'OffsetCheckpoint';
    const isBeforeRange = distance(start, offset) < 0;
    const isRepeated = !isCheckpoint && offset === lastUpdate;
    if (isBeforeRange || isRepeated) continue;
    // a checkpoint may have the offset of the element before it
    if (distance(last, offset) < (isCheckpoint ? 0 : 1)) {
      return { updates: [], last: start, lastUpdate: start, failure: new OrderError(offset, last) };
    }
    last = offset;
    if (!isCheckpoint) lastUpdate = offset;
    if (offset > beginExclusive ? offset <= endInclusive : isCheckpoint) updates.push(element);
  }
  return { updates, last, lastUpdate };
}

/** Without progress, the feed would request the page of a bounded range again and again. */
function checkProgress(
  { count, last }: DecodedPage,
  { beginExclusive, endInclusive, descendingOrder }: Range,
): OrderError | undefined {
  if (endInclusive === undefined || count === 0) return undefined;
  const start = descendingOrder === true ? endInclusive + 1 : beginExclusive;
  return last === start ? new OrderError(last, start) : undefined;
}
