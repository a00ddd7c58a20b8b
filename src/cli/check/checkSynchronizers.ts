import * as t from 'io-ts';
import { catchError, map, of, switchMap, type Observable } from 'rxjs';
import { UpdateElement } from '../../codecs/UpdateElement.js';
import { jsonIn } from '../probe/jsonIn.js';
import type { Finding } from './Finding.js';
import { finder } from './finder.js';
import type { First } from './First.js';
import type { Probe } from './Probe.js';
import { shortened } from './shortened.js';
import { updatesBody } from './updatesBody.js';

const Connected = t.type({ connectedSynchronizers: t.array(t.type({ synchronizerId: t.string })) });
const Updates = t.array(UpdateElement);

const reach = 50;
const { ok, open } = finder('synchronizers', 'synchronizers');

/** Which synchronizers the participant is connected to; where it does not tell, of which the last updates are. */
export const checkSynchronizers = (probe: Probe, first: First, path: string | undefined): Observable<Finding> =>
  probe.ask({ method: 'GET', path: '/v2/state/connected-synchronizers' }).pipe(
    map((answer) => jsonIn(answer, Connected)?.connectedSynchronizers.map(({ synchronizerId }) => synchronizerId)),
    catchError(() => of(undefined)),
    switchMap((connected) => (connected === undefined ? seen(probe, first, path) : of(told(connected, 'connected')))),
  );

function seen(
  { ask, parties }: Probe,
  { endOffset = 0, prunedOffset = 0 }: First,
  path: string | undefined,
): Observable<Finding> {
  if (path === undefined || endOffset <= prunedOffset) return of(open('not told'));
  const range = { beginExclusive: Math.max(prunedOffset, endOffset - reach), endInclusive: endOffset };
  return ask({ method: 'POST', path: `${path}?limit=${reach}`, body: updatesBody(parties, range) }).pipe(
    map((answer) => {
      const ids = (jsonIn(answer, Updates) ?? []).flatMap((update) =>
        'synchronizerId' in update ? [update.synchronizerId] : [],
      );
      return told([...new Set(ids)], `seen in the last ${reach} offsets`);
    }),
  );
}

function told(ids: readonly string[], how: string): Finding {
  const data = { how, ids };
  if (ids.length === 0) return open(`none ${how}`, data);
  return ok(`${ids.length} ${how}: ${ids.slice(0, 5).map(shortened).join(', ')}${ids.length > 5 ? ', …' : ''}`, data);
}
