import { catchError, concatMap, forkJoin, map, type Observable, of, switchMap, throwError, timeout } from 'rxjs';
import { RequestTimeoutError } from '../../index.js';
import type { Connection } from '../Connection.js';
import { unknownParties } from '../names.js';
import { probeTimeoutMs as timeoutMs } from '../probe.js';
import { openLedger } from '../Session.js';
import type { Names } from '../Selection.js';
import type { World } from '../World.js';
import { checkClock, checkEncryption, checkProxy, checkReachable, checkRoundTrip } from './connection.js';
import { type Finding, findings } from './Finding.js';
import { type Basics, type Probe, requestBasics, shortenId, troubleOfError } from './Probe.js';
import { checkEndpoints, checkParticipant, checkSynchronizers, checkVersion, checkWebSocket } from './service.js';
import { checkToken } from './token.js';
import { checkOffsets, checkPageLimit, checkUpdates } from './updates.js';

/** All findings, in the order of the report. */
export function runChecks(
  connection: Connection,
  parties: Names['parties'],
  env: World['env'],
): Observable<readonly Finding[]> {
  const target: Probe = { connection, parties, env };
  return requestBasics(target).pipe(
    concatMap((basics) =>
      checkReachable(target, basics).pipe(
        // without a ledger there is nothing more to check
        concatMap((reachable) =>
          reachable.state === 'ok'
            ? runOtherChecks(target, basics).pipe(map((others) => [reachable, ...others]))
            : of([reachable, ...checkProxy(target), ...checkEncryption(target)]),
        ),
      ),
    ),
  );
}

function runOtherChecks(target: Probe, basics: Basics): Observable<readonly Finding[]> {
  const updates$ = checkUpdates(target, basics).pipe(
    switchMap(({ finding, path }) =>
      toFindings('pageLimit', 'page limit', checkPageLimit(target, basics, path)).pipe(
        map((pageLimit) => [finding, ...pageLimit]),
      ),
    ),
  );
  const beforeRoundTrip$ = forkJoin([
    toFindings('version', 'version', checkVersion(target, basics)),
    toFindings('token', 'token', checkToken(target, basics)),
    of([...checkProxy(target), ...checkEncryption(target), checkClock(basics)]),
  ]);
  const afterRoundTrip$ = forkJoin([
    toFindings('participant', 'participant', checkParticipant(target, basics)),
    toFindings('party', 'party', checkParties(target)),
    of(checkOffsets(basics)),
    toFindings('synchronizers', 'synchronizers', checkSynchronizers(target, basics)),
    toFindings('updates', 'updates', updates$, 2 * timeoutMs),
    toFindings('endpoints', 'endpoints', checkEndpoints(target)),
    toFindings('webSocket', 'WebSocket', checkWebSocket(target.connection)),
  ]);
  return forkJoin([beforeRoundTrip$, afterRoundTrip$]).pipe(
    concatMap(([before, after]) =>
      // requested after the others, so that they do not slow it down
      toFindings('roundTrip', 'round trip', checkRoundTrip(target, basics)).pipe(
        map((roundTrip) => [...before.flat(), ...roundTrip, ...after.flat()]),
      ),
    ),
  );
}

/** A finding for each party that the participant does not know: requests for it succeed without a result. */
const checkParties = ({ connection, parties }: Probe): Observable<readonly Finding[]> =>
  unknownParties({ connection, ledger: openLedger(connection) }, parties).pipe(
    map((unknown) =>
      unknown.map((party) =>
        findings('party', 'party').failed({
          kind: 'other',
          text: `the participant does not know ${shortenId(party)}`,
          next: 'check the spelling of --party',
        }),
      ),
    ),
  );

/** The findings of a check within a time. A failure of the check itself is a finding, too. */
const toFindings = (
  id: string,
  label: string,
  finding$: Observable<Finding | readonly Finding[]>,
  withinMs = timeoutMs,
): Observable<readonly Finding[]> =>
  finding$.pipe(
    timeout({ each: withinMs, with: () => throwError(() => new RequestTimeoutError('', withinMs)) }),
    map((results) => [results].flat()),
    catchError((error: unknown) => of([findings(id, label).failed(troubleOfError(error))])),
  );
