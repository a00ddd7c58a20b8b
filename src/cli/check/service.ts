import { randomBytes } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import * as t from 'io-ts';
import { catchError, concatMap, defer, forkJoin, map, Observable, of, tap, timeout } from 'rxjs';
import { isLedgerError } from '../../index.js';
import type { Connection } from '../Connection.js';
import {
  decodeResponse,
  endpointUrl,
  participantId,
  probe,
  type ProbeResponse,
  synchronizersOf,
  tokenOf,
} from '../participant.js';
import { escapeText } from '../terminal.js';
import { type Finding, findings, needsToken } from './Finding.js';
import {
  type Basics,
  isTokenRefused,
  lacksEndpoint,
  type Probe,
  shortenId,
  troubleOfError,
  troubleOfResponse,
} from './Probe.js';

const version = findings('version');

/** The release of the participant. A gateway may require the token even for that. */
export function checkVersion({ connection }: Probe, basics: Basics): Observable<Finding> {
  if ('error' in basics.version) return of(version.failed(troubleOfError(basics.version.error)));
  const { response } = basics.version;
  const isRefused = [401, 403].includes(response.status) && connection.token !== undefined;
  return (isRefused ? probe(connection, { method: 'GET', path: '/v2/version' }) : of(response)).pipe(
    map(versionFinding),
  );
}

const Version = t.type({ version: t.string });

/** The release in a response; `undefined` if there is none. */
export const releaseIn = (response: ProbeResponse): string | undefined => decodeResponse(response, Version)?.version;

function versionFinding(response: ProbeResponse): Finding {
  const release = releaseIn(response);
  if (release !== undefined) return version.ok(escapeText(release).slice(0, 60), { version: release });
  if (lacksEndpoint(response)) return version.open('not reported');
  // the check of the token reports it
  if (response.status === 401) return version.open(needsToken);
  return version.failed(troubleOfResponse(response) ?? { kind: 'other', text: 'the response has no version' });
}

const participant = findings('participant');

/** The id of the participant. */
export const checkParticipant = ({ connection }: Probe, basics: Basics): Observable<Finding> =>
  participantId(connection).pipe(
    map((id) => (id === undefined ? participant.open(notReported(basics)) : participant.ok(shortenId(id), { id }))),
  );

const notReported = (basics: Basics): string => (isTokenRefused(basics) ? needsToken : 'not reported');

const synchronizers = findings('synchronizers');

/** The connected synchronizers of the participant. */
export const checkSynchronizers = ({ connection }: Probe, basics: Basics): Observable<Finding> =>
  synchronizersOf(connection).pipe(
    map((ids) => {
      if (ids === undefined) return synchronizers.open(notReported(basics));
      const data = { how: 'connected', ids };
      if (ids.length === 0) return synchronizers.open('none connected', data);
      const names = ids.slice(0, 5).map(shortenId).join(', ');
      return synchronizers.ok(`${ids.length} connected: ${names}${ids.length > 5 ? ', …' : ''}`, data);
    }),
  );

const submission = findings('submission');

const endpoints = findings('endpoints');

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

/** Which of the endpoints that not every release has are served, all of them by POST. */
export const checkEndpoints = ({ connection }: Probe): Observable<readonly Finding[]> => {
  const presenceOf = (paths: readonly string[]): Observable<Presence> =>
    forkJoin(Object.fromEntries(paths.map((path) => [path, presenceAt(connection, path)])));
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

/**
 * Whether a path is served by POST; `undefined` if that is unknown. A GET has no effect: a path that exists answers that the
 * method is wrong. But one that a WebSocket can open, too, answers to GET like one that does not exist. There, neither has a
 * POST whose body is not JSON: the participant says so before anything else.
 */
const presenceAt = (connection: Connection, path: string): Observable<boolean | undefined> =>
  probe(connection, { method: 'GET', path }).pipe(
    concatMap((response) =>
      isUnknownPath(response)
        ? probe(connection, { method: 'POST', path, text: 'no JSON' }).pipe(map(isServed))
        : [isServed(response)],
    ),
    catchError(() => of(undefined)),
  );

/** Unknown if a gateway in front of the participant answers. */
function isServed(response: ProbeResponse): boolean | undefined {
  if (isUnknownPath(response)) return false;
  return [200, 400, 405, 415, 426].includes(response.status) ? true : undefined;
}

/** Whether the participant does not know a path for a method: its 404 has another body than that of a gateway. */
const isUnknownPath = ({ status, text }: ProbeResponse): boolean =>
  status === 404 && text.includes('"ledgerApiError":');

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

const socketPath = '/v2/updates';

/** A service answers an upgrade at once; a proxy may drop it. */
const upgradeTimeoutMs = 2_500;

const webSocket = findings('webSocket');

/** Whether the service, and any proxy in front of it, accepts a WebSocket. Feeds work without one. */
export const checkWebSocket = (connection: Connection): Observable<Finding> =>
  defer(() => {
    const end = connection.log?.('GET', socketPath);
    return requestUpgrade(connection).pipe(
      timeout({ first: upgradeTimeoutMs }),
      tap({ next: ({ status }) => end?.(status), error: () => end?.('no response') }),
    );
  }).pipe(
    map(({ status, protocol }) => {
      // the check of the token reports it
      if (status === 401) return webSocket.open(needsToken, { status });
      if (status !== 101) return noWebSocket(`refused at ${socketPath} (${status})`, { status });
      // clients that offer a subprotocol fail without one
      if (protocol === undefined) return noWebSocket(`no subprotocol daml.ws.auth at ${socketPath}`, { status });
      return webSocket.ok(`available at ${socketPath}`, { isPossible: true, protocol });
    }),
    // other checks report that the service does not answer
    catchError((error: unknown) => {
      if (isLedgerError(error, 'TokenError')) throw error;
      return of(noWebSocket(`no response at ${socketPath}`));
    }),
  );

const noWebSocket = (reason: string, data?: { readonly status: number }): Finding =>
  webSocket.open(`${reason}; feeds poll instead`, { isPossible: false, ...data });

/** The answer of a service to the request for a WebSocket. */
interface Upgrade {
  /** 101 if it agrees. */
  readonly status: number;
  /** The chosen subprotocol. */
  readonly protocol?: string;
}

/**
 * Requests a WebSocket as feeds do, and closes the connection at the answer. By `node:http`: fetch cannot upgrade, and a
 * socket of the library does not report the status of a refusal.
 */
const requestUpgrade = (connection: Connection): Observable<Upgrade> =>
  new Observable((subscriber) => {
    const url = new URL(endpointUrl(connection, socketPath));
    const token = tokenOf(connection);
    const request = (url.protocol === 'https:' ? httpsRequest : httpRequest)(url, {
      agent: false,
      headers: {
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': randomBytes(16).toString('base64'),
        'sec-websocket-protocol': 'daml.ws.auth',
        // not as a subprotocol: a participant reads the token there only if it is the first one
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
    });
    const emit = (status: number, protocol: string | undefined): void => {
      // no other subprotocol was offered
      const isKnown = protocol === 'daml.ws.auth';
      subscriber.next({ status, ...(isKnown && { protocol }) });
      subscriber.complete();
    };
    request.on('upgrade', ({ headers }) => {
      emit(101, headers['sec-websocket-protocol']);
    });
    request.on('response', ({ statusCode = 0 }) => {
      emit(statusCode, undefined);
    });
    request.on('error', (error) => {
      subscriber.error(error);
    });
    request.end();
    return () => {
      // closes the connection, too
      request.destroy();
    };
  });
