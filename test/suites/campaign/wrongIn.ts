import type { Asked } from '../../helpers/scripted.js';
import { isBounded, isPage } from './inflict.js';

const isWhole = (text: string | undefined): boolean => /^[1-9]\d*$/.test(text ?? '');

/** What is wrong with a request, whatever the service is like. */
export function wrongIn(asked: Asked, isDownward: boolean): readonly string[] {
  const { query, body, path } = asked;
  if (!isPage(asked)) return [];
  const idle = query['stream_idle_timeout_ms'];
  return [
    ...(isWhole(query['limit']) ? [] : [`a limit of ${String(query['limit'])}`]),
    ...(isBounded(asked) && idle !== undefined ? ['an idle timeout beside a bound, which could cut the page'] : []),
    ...(!isBounded(asked) && !isWhole(idle) ? [`an idle timeout of ${String(idle)}`] : []),
    ...(isBounded(asked) && Number(body['endInclusive']) <= Number(body['beginExclusive'])
      ? ['a range of nothing']
      : []),
    ...([body['beginExclusive'], body['endInclusive'] ?? 0].every(Number.isSafeInteger)
      ? []
      : ['an offset that is none']),
    ...(body['descendingOrder'] === isDownward ? [] : ['another order']),
    ...(path === '/v2/updates' && 'filter' in body ? ['a filter, which 3.6 does not take'] : []),
    ...('filter' in body === 'updateFormat' in body ? ['a filter and a format, or none'] : []),
  ];
}
