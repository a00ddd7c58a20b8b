import { problemsOf } from '../codecs/Problem.js';
import type { Offset } from '../codecs/scalars.js';
import { offsetOfElement, type Update, UpdateElement } from '../codecs/Update.js';
import { DecodeError, OrderError } from '../errors/feed.js';
import type { LedgerError } from '../errors/LedgerError.js';
import type { InvalidUpdate } from './UpdatesOptions.js';

/** One answer, as far as it is good. */
export interface Page {
  /** In order, all within the range that was asked for. */
  readonly updates: readonly (Update | InvalidUpdate)[];
  /** How many elements the service sent. */
  readonly count: number;
  /** Whether these are as many as it was asked for. */
  readonly isFull: boolean;
  /** The offset of the last element, also of one beyond the range; the range's start where there is none. */
  readonly last: Offset;
  /** How long the answer took, in milliseconds. */
  readonly tookMs: number;
  /** What ends the feed behind these updates. */
  readonly failure?: LedgerError;
}

/** A range of the ledger, and which way to read it. */
export interface Range {
  readonly beginExclusive: Offset;
  readonly endInclusive?: Offset;
  readonly descendingOrder?: boolean;
}

/** A page as such: how it came, whoever asked for it knows. */
export type Decoded = Omit<Page, 'tookMs'>;

/** The elements of a range in their order, or what is wrong with them. */
interface Ordered {
  readonly updates: readonly (Update | InvalidUpdate)[];
  /** The offset of the last element, also of one beyond the range; the range's start where there is none. */
  readonly last: Offset;
  /** The offset of the last element that is no checkpoint; the range's start where there is none. */
  readonly lastUpdate: Offset;
  readonly failure?: OrderError;
}

/**
 * Checks the order of a whole page before any of it is emitted: behind an offset that came too early, those that should
 * have come before it would be lost to whoever resumes from it. What lies outside the range is left out, and so is an
 * update that came twice.
 *
 * @param before - what came before these elements, where they are not the first of the range
 */
export function checkOrder(
  elements: readonly (Update | InvalidUpdate)[],
  range: Range,
  before?: Pick<Ordered, 'last' | 'lastUpdate'>,
): Ordered {
  const { beginExclusive, endInclusive = Infinity, descendingOrder = false } = range;
  const start = descendingOrder ? endInclusive + 1 : beginExclusive;
  const distance = (from: Offset, to: Offset): number => (descendingOrder ? from - to : to - from);
  const updates: (Update | InvalidUpdate)[] = [];
  let { last, lastUpdate } = before ?? { last: start, lastUpdate: start };
  for (const element of elements) {
    const { offset } = element;
    const isCheckpoint = element._tag === 'OffsetCheckpoint';
    const isBeforeRange = distance(start, offset) < 0;
    const isRepeated = !isCheckpoint && offset === lastUpdate;
    if (isBeforeRange || isRepeated) continue;
    // a checkpoint may stand where the last element stood
    if (distance(last, offset) < (isCheckpoint ? 0 : 1)) {
      return { updates: [], last: start, lastUpdate: start, failure: new OrderError(offset, last) };
    }
    last = offset;
    if (!isCheckpoint) lastUpdate = offset;
    if (offset > beginExclusive ? offset <= endInclusive : isCheckpoint) updates.push(element);
  }
  return { updates, last, lastUpdate };
}

/** The elements of an answer, up to the first that ends the feed. */
interface Elements {
  readonly updates: readonly (Update | InvalidUpdate)[];
  readonly failure?: DecodeError;
}

/** Decodes the elements of an answer, each once. */
export function decodeElements(path: string, json: readonly unknown[], onInvalid: 'fail' | 'emit'): Elements {
  const updates: (Update | InvalidUpdate)[] = [];
  for (const element of json) {
    const result = UpdateElement.decode(element);
    if (result._tag === 'Right') {
      updates.push(result.right);
      continue;
    }
    const problems = problemsOf(result.left);
    const offset = offsetOfElement(element);
    // without its offset nobody could go past it
    if (onInvalid === 'fail' || offset === undefined)
      return { updates, failure: new DecodeError(path, problems, offset) };
    updates.push({ _tag: 'InvalidUpdate', offset, problems });
  }
  return { updates };
}

/** An answer, and what it answers. */
interface Answer {
  readonly path: string;
  readonly json: unknown;
  readonly range: Range;
  readonly limit: number;
  readonly onInvalid: 'fail' | 'emit';
}

/** The page that an answer is: decoded and in order, with what is wrong with it behind what is right. */
export function toPage({ path, json, range, limit, onInvalid }: Answer): Decoded {
  if (!isList(json)) throw new DecodeError(path, [{ path: '', expected: 'a list of updates' }]);
  const elements = decodeElements(path, json, onInvalid);
  const { updates, last, failure: disorder } = checkOrder(elements.updates, range);
  const page = { updates, last, count: json.length, isFull: json.length >= limit };
  const failure = disorder ?? elements.failure ?? checkProgress(page, range);
  return failure === undefined ? page : { ...page, failure };
}

const isList = (u: unknown): u is readonly unknown[] => Array.isArray(u);

/** A page of a bounded range that leads nowhere would be asked for again and again. */
function checkProgress(
  { count, last }: Decoded,
  { beginExclusive, endInclusive, descendingOrder }: Range,
): OrderError | undefined {
  if (endInclusive === undefined || count === 0) return undefined;
  const start = descendingOrder === true ? endInclusive + 1 : beginExclusive;
  return last === start ? new OrderError(last, start) : undefined;
}
