import { catchError, delay, map, type Observable, of } from 'rxjs';
import type { Reply } from '../../helpers/scripted.js';
import { errorBody, errorReply } from '../../helpers/wire.js';
import type { Replaced } from './commandsSchedule.js';

const page = '<html><head><title>Sorry</title></head></html>';
const json = { error: { type: 'gateway', message: 'no route' }, request_id: '7' };
const withheld = { ...errorBody('NA', -1), cause: 'An error occurred. Please contact the operator.' };

const byStatus = <N extends number, K extends string>(
  kind: K,
  statuses: readonly N[],
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
) =>
  Object.fromEntries(statuses.map((status) => [`${kind} ${status}`, errorReply(status, body, headers)])) as Readonly<
    Record<`${K} ${N}`, Reply>
  >;

/** The answers of an ingress in place of those of the participant. None has a code of the ledger. */
export const answers = {
  ...byStatus('page', [200, 400, 403, 404, 405, 408, 409, 413, 422, 429, 500, 502, 503, 504], page, {
    'content-type': 'text/html',
  }),
  ...byStatus('json', [200, 400, 403, 404, 409, 413, 429, 500, 501, 503], json),
  ...byStatus('withheld', [400, 409, 500], withheld),
  ...byStatus('redirect', [301, 302, 307, 308], '', { location: 'https://elsewhere.example/' }),
} as const;

export type Answer = keyof typeof answers;

/** What a client gets of an exchange. The participant works on what it gets, whatever its client gets. */
export const replace = (
  { by, isForwarded }: Replaced,
  exchange: () => Observable<Reply>,
  latencyMs: number,
): Observable<Reply> => {
  const answer = answers[by];
  if (!isForwarded) return of(answer).pipe(delay(latencyMs));
  return exchange().pipe(
    map(() => answer),
    // an ingress answers itself if it has no connection
    catchError(() => [answer]),
  );
};
