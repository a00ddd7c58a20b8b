import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import {
  catchError,
  concatMap,
  defer,
  EMPTY,
  finalize,
  map,
  range,
  takeUntil,
  timer,
  toArray,
  type Observable,
} from 'rxjs';
import { ask } from '../probe/ask.js';
import type { Finding } from './Finding.js';
import { finder } from './finder.js';
import type { First } from './First.js';
import type { Probe } from './Probe.js';

const times = 9;
const mostMs = 2_000;

const { ok, open } = finder('roundTrip', 'round trip');

/** How long a small request takes on a connection that is open already. */
export const checkRoundTrip = ({ connection }: Probe, { endOffset }: First): Observable<Finding> =>
  defer(() => {
    const Agent = connection.ledger.toLowerCase().startsWith('https:') ? HttpsAgent : HttpAgent;
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const path = endOffset === undefined ? '/v2/version' : '/v2/state/ledger-end';
    const asking = { timeoutMs: mostMs, agent };
    const answer$ = range(0, times + 1).pipe(
      concatMap(() => ask(connection, { method: 'GET', path }, asking)),
      catchError(() => EMPTY),
      takeUntil(timer(mostMs)),
    );
    return answer$.pipe(
      map(({ tookMs }) => tookMs),
      toArray(),
      // the first has the connection in it
      map(([, ...taken]) => described(taken)),
      finalize(() => {
        agent.destroy();
      }),
    );
  });

function described(taken: readonly number[]): Finding {
  const sorted = [...taken].sort((a, b) => a - b);
  const [least, median, most] = [sorted[0], sorted[Math.floor(sorted.length / 2)], sorted.at(-1)];
  if (least === undefined || median === undefined || most === undefined) return open('not found out in time');
  const [low, middle, high] = [least, median, most].map((ms) => Math.round(ms * 10) / 10);
  return ok(`${middle} ms, the median of ${sorted.length} from ${low} to ${high} ms`, {
    medianMs: middle,
    leastMs: low,
    mostMs: high,
    count: sorted.length,
  });
}
