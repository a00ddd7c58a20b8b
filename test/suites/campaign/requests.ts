import type { Reply, ServiceRequest } from '../../helpers/scripted.js';
import type { Entry } from '../../helpers/virtualLedger.js';
import { stopping } from './statuses.js';

export const isPage = ({ path }: ServiceRequest): boolean => ['/v2/updates', '/v2/updates/flats'].includes(path);
export const isLedgerEnd = ({ path }: ServiceRequest): boolean => path.endsWith('/ledger-end');
/** Whether a request looks up an update by its ID. */
export const isLookUp = ({ path }: ServiceRequest): boolean => path === '/v2/updates/update-by-id';
export const isBounded = ({ body }: ServiceRequest): boolean => 'endInclusive' in body;
export const isDownward = ({ body }: ServiceRequest): boolean => body['descendingOrder'] === true;
export const isPoll = (request: ServiceRequest): boolean => isPage(request) && !isBounded(request);

/** Whether a request looks for the place of a position in what was read before a cursor. */
export const isSearch = (request: ServiceRequest, cursor: number): boolean =>
  isPage(request) && boundOf(request) <= cursor && Number(request.query['limit']) > 2;

/** The end of the requested range; `Infinity` for a poll. */
export const boundOf = ({ body }: ServiceRequest): number =>
  typeof body['endInclusive'] === 'number' ? body['endInclusive'] : Infinity;

/** Whether a request looks for what a feed has not read before its last update. */
const isLookBack = (request: ServiceRequest): boolean => isBounded(request) && request.body['descendingOrder'] === true;

/** What is wrong with a request, whatever the service. */
export function findRequestFlaws(request: ServiceRequest, isFeedDownward: boolean): readonly string[] {
  const { query, body, path } = request;
  if (!isPage(request)) return [];
  const idleMs = query['stream_idle_timeout_ms'];
  const { beginExclusive, endInclusive } = body;
  const flaws: readonly (readonly [boolean, string])[] = [
    [!isPositiveInteger(query['limit']), `a limit of ${String(query['limit'])}`],
    [isBounded(request) && idleMs !== undefined, 'an idle timeout beside a bound, which could cut the page'],
    [!isBounded(request) && !isPositiveInteger(idleMs), `an idle timeout of ${String(idleMs)}`],
    [isBounded(request) && Number(endInclusive) <= Number(beginExclusive), 'an empty range'],
    [![beginExclusive, endInclusive ?? 0].every(Number.isSafeInteger), 'an invalid offset'],
    // after an outage, a feed in descending order requests the last update alone, and another one looks downward from there
    [
      body['descendingOrder'] !== isFeedDownward && !isForLastUpdate(request) && !isLookBack(request),
      'the wrong order',
    ],
    [path === '/v2/updates' && 'filter' in body, 'a filter, which 3.6 does not accept'],
    ['filter' in body === 'updateFormat' in body, 'both a filter and a format, or neither'],
  ];
  return flaws.flatMap(([isFlaw, text]) => (isFlaw ? [text] : []));
}

/** Whether a request shows an update alone, to see that it is still at its offset. */
export const isForLastUpdate = ({ query, body }: ServiceRequest): boolean =>
  ['1', '2'].includes(query['limit'] ?? '') && Number(body['endInclusive']) === Number(body['beginExclusive']) + 1;

const isPositiveInteger = (text: string | undefined): boolean => /^[1-9]\d*$/.test(text ?? '');

/** A page that ends a feed. */
interface BadPage {
  readonly tag: 'OrderError' | 'DecodeError';
  /** The elements before the bad one. */
  readonly good: readonly Entry[];
  readonly offset?: number;
  /** Whether it is not a list. */
  readonly isNoPage?: boolean;
}

const badPages = new WeakMap<object, BadPage>();

/** Remembers what is bad about an answer. */
export function markBadPage(reply: Reply, bad: BadPage): Reply {
  badPages.set(reply, bad);
  return reply;
}

/** What is bad about an answer, if `markBadPage` knows it. */
export const badPageOf = (reply: Reply): BadPage | undefined => badPages.get(reply);

/** An error with which a feed must end. */
export interface ForcedEnd {
  readonly error: Readonly<Record<string, unknown>>;
  /** Whether it is a gap, after which a caller may choose to continue. */
  readonly isGap?: boolean;
}

const stoppingReplies = new Set(Object.values(stopping).map((reply) => keyOf(reply())));

/** The error with which a feed must end when it receives an answer; `undefined` where it must continue. */
export function forcedEnd(request: ServiceRequest, reply: Reply): ForcedEnd | undefined {
  if (reply instanceof Error) return undefined;
  const { status, text } = reply;
  const bad = badPageOf(reply);
  if (bad?.tag === 'OrderError') return { error: { _tag: 'OrderError' } };
  if (bad?.tag === 'DecodeError') return { error: { _tag: 'DecodeError', offset: bad.offset } };
  if (status === 400 && text.includes('PARTICIPANT_PRUNED_DATA_ACCESSED'))
    return {
      error: { _tag: 'PrunedError', earliestOffset: Number(/"earliest_offset":"(\d+)"/.exec(text)?.[1]) },
      isGap: true,
    };
  if (status === 413 && text.includes('MAXIMUM_LIST') && request.query['limit'] === '1')
    return { error: { _tag: 'PageLimitError', cursor: request.body['beginExclusive'] } };
  if (status === 404 && request.path === '/v2/updates') return { error: { _tag: 'ApiError', status: 404 } };
  return stoppingReplies.has(keyOf(reply)) ? { error: { _tag: 'ApiError', status } } : undefined;
}

/** Equal for equal answers. */
export function keyOf(reply: Reply): string {
  return reply instanceof Error ? 'error' : `${reply.status} ${reply.text}`;
}
