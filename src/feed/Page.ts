import type * as t from 'io-ts';
import { type Problem, problemsOf } from '../codecs/Problem.js';
import type { Offset, Timestamp } from '../codecs/scalars.js';
import { headOfElement, type Update } from '../codecs/Update.js';
import { DecodeError, OrderError } from '../errors/feed.js';
import type { LedgerError } from '../errors/LedgerError.js';
import type { LastUpdate } from '../codecs/LedgerPosition.js';
import { idOf } from '../history/positions.js';

/** An element of a feed: an update, or a completion. */
export interface FeedElement {
  readonly _tag: string;
  readonly offset: Offset;
  readonly updateId?: string;
}

/** The form of the elements on the wire. */
export interface ElementForm<A extends FeedElement> {
  /** The field that has the content of an element. */
  readonly field: 'update' | 'completionResponse';
  readonly codec: t.Decoder<unknown, A>;
}

/** The decoded and ordered content of one response, up to the first invalid element. */
export interface Page<A extends FeedElement = Update> {
  /** The updates, or the completions, in order, all within the requested range. */
  readonly updates: readonly (A | UndecodedUpdate)[];
  /** The number of elements that the participant sent, without those that it repeated. */
  readonly count: number;
  /** Whether the participant sent as many elements as the limit allows. */
  readonly isFull: boolean;
  /** The offset of the last element, even if it is beyond the range; the start of the range if there is none. */
  readonly last: Offset;
  /** How long the response took, in milliseconds. */
  readonly tookMs: number;
  /** The number of outages before the request. Absent for elements of a WebSocket, which ends with an outage. */
  readonly outages?: number | undefined;
  /** The error that ends the feed after these updates. */
  readonly failure?: LedgerError;
  /**
   * Whether the response began with the last update of the feed, and so is of the same ledger. `'unreadable'`: it did, but
   * that does not decode any more. Absent if the request did not begin with it.
   */
  readonly proves?: 'yes' | 'no' | 'unreadable';
  /** What the participant has right before the range, if the request had an overlap. It is not emitted. */
  readonly overlap?: Overlap;
  /** The updates that the feed has read before, at other offsets. They are not emitted. */
  readonly repeated?: ReadonlySet<FeedElement>;
}

/** Offsets before a range that were read together with it. */
interface Overlap {
  /** They begin after this offset. */
  readonly beginExclusive: Offset;
  /** The number of elements there. */
  readonly count: number;
  /** The last update there; `undefined` if there is none. */
  readonly lastUpdate: { readonly offset: Offset; readonly updateId: string | undefined } | undefined;
}

/**
 * An update that cannot be decoded. A feed with `onUndecodable: 'emit'` emits it.
 *
 * @category Updates
 */
export interface UndecodedUpdate {
  /** The discriminant. */
  readonly _tag: 'UndecodedUpdate';
  /**
   * The offset of the update. An update without a valid offset always ends the feed, because the cursor cannot pass it.
   */
  readonly offset: Offset;
  /** The ID of the update, if it is readable. */
  readonly updateId?: string;
  /** The synchronizer of the update, if it is readable. */
  readonly synchronizerId?: string;
  /** The record time of the update, if it is readable. */
  readonly recordTime?: Timestamp;
  /** The fields that cannot be decoded, without their values; at most about a hundred per list. */
  readonly problems: readonly Problem[];
}

/** A range of the ledger, and the direction in which to read it. */
export interface Range {
  readonly beginExclusive: Offset;
  readonly endInclusive?: Offset;
  readonly descendingOrder?: boolean;
}

/** How many elements a page may have. */
export interface PageSize {
  /**
   * The maximum number of elements. Always sent: without it, a participant with more elements than its maximum refuses
   * the request.
   */
  readonly limit: number;
  /** Whether the page itself is to prove the ledger. Default: it begins with the last update, to prove itself. */
  readonly isProof?: boolean;
  /** How many offsets before the range to read, too, so that the page can be compared with what was read there. Default: 0. */
  readonly overlap?: number;
}

/** A page without what is known of its request. */
export type DecodedPage<A extends FeedElement> = Omit<Page<A>, 'tookMs' | 'outages'>;

/** A response and its request. */
interface Answer<A extends FeedElement> {
  readonly form: ElementForm<A>;
  readonly path: string;
  readonly json: unknown;
  readonly range: Range;
  readonly limit: number;
  readonly onUndecodable: 'fail' | 'emit';
}

/** Decodes a response and checks its order. If that fails, the page contains the updates before the failure. */
export function toPage<A extends FeedElement>(answer: Answer<A>): DecodedPage<A> {
  const { form, path, json, range, limit, onUndecodable } = answer;
  if (!isList(json)) throw new DecodeError(path, [{ path: '', expected: 'a list' }]);
  const elements = decodeElements(form, path, json, onUndecodable);
  const { updates, last, failure: disorder } = checkOrder(elements.updates, range);
  const count = json.length - elements.updates.filter(isRepetition).length;
  const page = { updates, last, count, isFull: json.length >= limit };
  const failure = disorder ?? elements.failure ?? checkProgress(page, range);
  return failure === undefined ? page : { ...page, failure };
}

/** Whether an update stands where the element before it stands, too. */
const isRepetition = ({ _tag, offset }: FeedElement, index: number, elements: readonly FeedElement[]): boolean => {
  const before = elements[index - 1];
  return _tag !== 'OffsetCheckpoint' && before?._tag === _tag && before.offset === offset;
};

const isList = (u: unknown): u is readonly unknown[] => Array.isArray(u);

/** The decoded elements of a response, up to the first failure. */
interface DecodedElements<A extends FeedElement> {
  readonly updates: readonly (A | UndecodedUpdate)[];
  readonly failure?: DecodeError;
}

/** Decodes each element of a response. */
export function decodeElements<A extends FeedElement>(
  { field, codec }: ElementForm<A>,
  path: string,
  json: readonly unknown[],
  onUndecodable: 'fail' | 'emit',
): DecodedElements<A> {
  const updates: (A | UndecodedUpdate)[] = [];
  for (const element of json) {
    const result = codec.decode(element);
    if (result._tag === 'Right') {
      updates.push(result.right);
      continue;
    }
    const problems = problemsOf(result.left);
    const { offset, ...head } = headOfElement(element, field);
    const { updateId } = head;
    // the cursor cannot move past an element without an offset
    if (onUndecodable === 'fail' || offset === undefined)
      return { updates, failure: new DecodeError(path, problems, offset, updateId) };
    updates.push({ _tag: 'UndecodedUpdate', offset, ...head, problems });
  }
  return { updates };
}

/** The elements of a range in order, or the error of the first element that is out of order. */
interface OrderedElements<A extends FeedElement> {
  readonly updates: readonly A[];
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
export function checkOrder<A extends FeedElement>(
  elements: readonly A[],
  range: Range,
  previous?: Pick<OrderedElements<A>, 'last' | 'lastUpdate'>,
): OrderedElements<A> {
  const { beginExclusive, endInclusive = Infinity, descendingOrder = false } = range;
  const start = descendingOrder ? endInclusive + 1 : beginExclusive;
  const distance = (from: Offset, to: Offset): number => (descendingOrder ? from - to : to - from);
  const updates: A[] = [];
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
  { count, last }: DecodedPage<FeedElement>,
  { beginExclusive, endInclusive, descendingOrder }: Range,
): OrderError | undefined {
  if (endInclusive === undefined || count === 0) return undefined;
  const start = descendingOrder === true ? endInclusive + 1 : beginExclusive;
  return last === start ? new OrderError(last, start) : undefined;
}

/** Takes what is before a range out of a page. */
export function cutOverlap<A extends FeedElement>(
  page: DecodedPage<A>,
  beginExclusive: Offset,
  rangeStart: Offset,
): DecodedPage<A> {
  const before = page.updates.filter(({ offset }) => offset <= rangeStart);
  const last = before.findLast(({ _tag }) => _tag !== 'OffsetCheckpoint');
  return {
    ...page,
    updates: page.updates.slice(before.length),
    count: page.count - before.length,
    last: Math.max(page.last, rangeStart),
    overlap: {
      beginExclusive,
      count: before.length,
      lastUpdate: last && { offset: last.offset, updateId: idOf(last) },
    },
  };
}

/**
 * Checks that a page begins with the last update, and leaves that out. A page without it is of another ledger, or of another
 * participant; nothing of it is used.
 */
export function checkProof<A extends FeedElement>(
  page: DecodedPage<A>,
  proof: LastUpdate | undefined,
  { beginExclusive, endInclusive }: Range,
): DecodedPage<A> {
  if (proof === undefined) return page;
  // of a page that is out of order, nothing is known; it begins before what was read
  if (page.failure?._tag === 'OrderError') return { ...page, last: Math.max(page.last, beginExclusive) };
  const [first, ...others] = page.updates;
  const isProven = first?.offset === proof.offset && idOf(first) === proof.updateId;
  const { failure } = page;
  // the participant may have been upgraded, and send the update in a form that does not decode
  const isUnreadable =
    first === undefined &&
    failure?._tag === 'DecodeError' &&
    failure.offset === proof.offset &&
    failure.updateId === proof.updateId;
  if (!isProven) {
    const { last, count, isFull } = page;
    return { updates: [], last, count, isFull, proves: isUnreadable ? 'unreadable' : 'no' };
  }
  const hasMore = others.some(({ _tag }) => _tag !== 'OffsetCheckpoint');
  // a page without news does not move the cursor back, and says nothing of what is before it
  const updates = hasMore ? others : others.filter(({ offset }) => offset >= beginExclusive);
  const last = hasMore ? page.last : Math.max(page.last, beginExclusive);
  const count = page.count - 1;
  // a page that the last update fills shows nothing of what comes after it
  const hasNone = others.length === 0 && (count > 0 || page.isFull);
  if (failure === undefined && endInclusive !== undefined && hasNone)
    return { ...page, updates, failure: new OrderError(page.last, beginExclusive) };
  return { ...page, updates, count, last: count === 0 ? beginExclusive : last, proves: 'yes' };
}
