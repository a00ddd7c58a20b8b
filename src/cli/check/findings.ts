import { concatMap, defaultIfEmpty, forkJoin, map, of, switchMap, type Observable } from 'rxjs';
import { ask } from '../probe/ask.js';
import { askFirst } from './askFirst.js';
import { checkClock } from './checkClock.js';
import { checkEncryption } from './checkEncryption.js';
import { checkEndpoints } from './checkEndpoints.js';
import { checkOffsets } from './checkOffsets.js';
import { checkPageLimit } from './checkPageLimit.js';
import { checkParticipant } from './checkParticipant.js';
import { checkReachable } from './checkReachable.js';
import { checkRoundTrip } from './checkRoundTrip.js';
import { checkSynchronizers } from './checkSynchronizers.js';
import { checkToken } from './checkToken.js';
import { checkUpdates } from './checkUpdates.js';
import { checkVersion } from './checkVersion.js';
import { checkWebSocket } from './checkWebSocket.js';
import type { CheckOptions } from './CheckOptions.js';
import type { Finding } from './Finding.js';
import type { First } from './First.js';
import { found } from './found.js';
import type { Probe } from './Probe.js';

/** Three in a row, and two seconds of round trips: less than 15 seconds, whatever does not answer. */
const mostMs = 3_500;

/** All findings, in the order in which they are told. */
export function findings(options: CheckOptions): Observable<readonly Finding[]> {
  const probe: Probe = {
    connection: options,
    parties: options.parties,
    ask: (question) => ask(options, question, { timeoutMs: mostMs }),
  };
  return askFirst(probe).pipe(
    concatMap((first) => {
      const reachable = checkReachable(first);
      // of nobody, or somebody else, there is nothing more to ask
      return reachable.state === 'ok'
        ? further(probe, first).pipe(map((others) => [reachable, ...others]))
        : of([reachable, ...checkEncryption(options)]);
    }),
  );
}

function further(probe: Probe, first: First): Observable<readonly Finding[]> {
  const updates$ = checkUpdates(probe, first).pipe(
    switchMap(({ finding, path }) =>
      forkJoin([
        found(['synchronizers', 'synchronizers'], checkSynchronizers(probe, first, path), mostMs),
        of([finding]),
        found(['pageLimit', 'page limit'], checkPageLimit(probe, first, path), mostMs),
      ]).pipe(map((list) => list.flat())),
    ),
  );
  const [ofLedger, ofRest] = [
    forkJoin([
      found(['version', 'version'], checkVersion(probe, first), mostMs),
      found(['token', 'token'], checkToken(probe, first), mostMs),
      found(['participant', 'participant'], checkParticipant(probe), mostMs),
      found(['updates', 'updates'], updates$, 2 * mostMs),
      found(['endpoints', 'endpoints'], checkEndpoints(probe), mostMs),
      found(['webSocket', 'WebSocket'], checkWebSocket(probe.connection), mostMs),
    ]),
    // alone, so that nothing else takes its time
    found(['roundTrip', 'round trip'], checkRoundTrip(probe, first), mostMs),
  ];
  return ofLedger.pipe(
    concatMap(([version, token, participant, updates, endpoints, webSocket]) =>
      ofRest.pipe(
        map((roundTrip) => [
          ...version,
          ...token,
          ...checkEncryption(probe.connection),
          checkClock(first),
          ...roundTrip,
          ...participant,
          ...checkOffsets(first),
          ...updates,
          ...endpoints,
          ...webSocket,
        ]),
      ),
    ),
    defaultIfEmpty([]),
  );
}
