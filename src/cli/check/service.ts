import * as t from 'io-ts';
import { catchError, forkJoin, map, type Observable, of, switchMap } from 'rxjs';
import { UpdateElement } from '../../codecs/Update.js';
import { decodeResponse, participantId, type ProbeResponse } from '../probe.js';
import { escapeText } from '../text.js';
import {
  type Basics,
  type Finding,
  findings,
  isTokenRefused,
  lacksEndpoint,
  needsToken,
  type Probe,
  shortenId,
  updatesBody,
} from './Finding.js';
import { troubleOfError, troubleOfResponse } from './trouble.js';

const version = findings('version', 'version');

/** The release of the participant. A gateway may require the token even for that. */
export function checkVersion({ send, connection }: Probe, basics: Basics): Observable<Finding> {
  if ('error' in basics.version) return of(version.failed(troubleOfError(basics.version.error)));
  const { response } = basics.version;
  const isRefused = [401, 403].includes(response.status) && connection.token !== undefined;
  return (isRefused ? send({ method: 'GET', path: '/v2/version' }) : of(response)).pipe(map(versionFinding));
}

const Version = t.type({ version: t.string });

function versionFinding(response: ProbeResponse): Finding {
  const release = decodeResponse(response, Version)?.version;
  if (release !== undefined) return version.ok(escapeText(release).slice(0, 60), { version: release });
  if (lacksEndpoint(response)) return version.open('not reported');
  // the check of the token reports it
  if (response.status === 401) return version.open(needsToken);
  return version.failed(troubleOfResponse(response) ?? { kind: 'other', text: 'the response has no version' });
}

const participant = findings('participant', 'participant');

/** The id of the participant. */
export const checkParticipant = ({ send }: Probe, basics: Basics): Observable<Finding> =>
  participantId(send).pipe(
    map((id) => (id === undefined ? participant.open(notReported(basics)) : participant.ok(shortenId(id), { id }))),
  );

const notReported = (basics: Basics): string => (isTokenRefused(basics) ? needsToken : 'not reported');

const synchronizers = findings('synchronizers', 'synchronizers');

/** The connected synchronizers of the participant, or those of the last updates if the service does not report them. */
export const checkSynchronizers = (probe: Probe, basics: Basics, path: string | undefined): Observable<Finding> =>
  probe.send({ method: 'GET', path: '/v2/state/connected-synchronizers' }).pipe(
    map((response) => decodeResponse(response, Connected)?.connectedSynchronizers.map((one) => one.synchronizerId)),
    catchError(() => of(undefined)),
    switchMap((ids) =>
      ids === undefined ? synchronizersOfUpdates(probe, basics, path) : of(synchronizersFinding(ids, 'connected')),
    ),
  );

const Connected = t.type({ connectedSynchronizers: t.array(t.type({ synchronizerId: t.string })) });

/** How many of the last offsets to read. */
const lastOffsets = 50;

const Updates = t.array(UpdateElement);

function synchronizersOfUpdates(
  { send, parties }: Probe,
  basics: Basics,
  path: string | undefined,
): Observable<Finding> {
  const { endOffset = 0, prunedOffset = 0 } = basics;
  if (path === undefined || endOffset <= prunedOffset) return of(synchronizers.open(notReported(basics)));
  const range = { beginExclusive: Math.max(prunedOffset, endOffset - lastOffsets), endInclusive: endOffset };
  return send({ method: 'POST', path: `${path}?limit=${lastOffsets}`, body: updatesBody(parties, range) }).pipe(
    map((response) => {
      const ids = (decodeResponse(response, Updates) ?? []).flatMap((update) =>
        'synchronizerId' in update ? [update.synchronizerId] : [],
      );
      return synchronizersFinding([...new Set(ids)], `seen in the last ${lastOffsets} offsets`);
    }),
  );
}

function synchronizersFinding(ids: readonly string[], how: string): Finding {
  const data = { how, ids };
  if (ids.length === 0) return synchronizers.open(`none ${how}`, data);
  return synchronizers.ok(
    `${ids.length} ${how}: ${ids.slice(0, 5).map(shortenId).join(', ')}${ids.length > 5 ? ', …' : ''}`,
    data,
  );
}

const submission = findings('submission', 'submission');

const endpoints = findings('endpoints', 'endpoints');

const submissionPaths = [
  '/v2/interactive-submission/prepare',
  '/v2/interactive-submission/executeAndWaitForTransaction',
];

const optionalPaths = [
  '/v2/updates/update-by-id',
  '/v2/updates/update-by-offset',
  '/v2/updates/update-by-hash',
  '/v2/updates/get-updates-page',
  '/v2/state/active-contracts',
  '/v2/events/events-by-contract-id',
  '/v2/commands/completions',
];

/**
 * Which of the endpoints that not every release has are served. All of them are served by POST alone. A GET has no effect:
 * an endpoint that exists answers that the method is wrong.
 */
export const checkEndpoints = ({ send }: Probe): Observable<readonly Finding[]> => {
  const presenceOf = (paths: readonly string[]): Observable<Presence> =>
    forkJoin(
      Object.fromEntries(
        paths.map((path) => [
          path,
          send({ method: 'GET', path }).pipe(
            map(isServed),
            catchError(() => of(undefined)),
          ),
        ]),
      ),
    );
  return forkJoin([presenceOf(submissionPaths), presenceOf(optionalPaths)]).pipe(
    map(([required, optional]) => [
      Object.values(required).every((isThere) => isThere === true)
        ? submission.ok('prepare and executeAndWaitForTransaction are served', required)
        : submission.open(presenceText(required), required),
      Object.values(optional).includes(true)
        ? endpoints.ok(presenceText(optional), optional)
        : endpoints.open(presenceText(optional), optional),
    ]),
  );
};

/** Whether each path is served; `undefined` if that is unknown. */
type Presence = Readonly<Record<string, boolean | undefined>>;

/** Unknown if a gateway in front of the participant answers. */
function isServed({ status }: ProbeResponse): boolean | undefined {
  if (status === 404 || status === 501) return false;
  return [400, 405, 415, 426].includes(status) ? true : undefined;
}

function presenceText(presence: Presence): string {
  const namesOf = (wanted: boolean | undefined): string =>
    Object.entries(presence)
      .filter(([, isThere]) => isThere === wanted)
      .map(([path]) => path.split('/').at(-1))
      .join(', ');
  const parts = [
    [namesOf(true), ''],
    [namesOf(false), 'missing: '],
    [namesOf(undefined), 'unknown: '],
  ] as const;
  return parts
    .filter(([names]) => names !== '')
    .map(([names, prefix]) => `${prefix}${names}`)
    .join('; ');
}
