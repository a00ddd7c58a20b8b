import { connect } from 'node:net';
import process from 'node:process';
import {
  catchError,
  concatMap,
  defer,
  EMPTY,
  map,
  Observable,
  of,
  range,
  takeUntil,
  timeout,
  timer,
  toArray,
} from 'rxjs';
import { isLedgerError } from '../../index.js';
import { type Connection, isThisMachine, portOf } from '../Connection.js';
import { parseJson, probe, type ProbeResponse } from '../participant.js';
import type { World } from '../World.js';
import { type Finding, findings } from './Finding.js';
import { type Basics, cantonErrorCode, type Probe, troubleOfError, troubleOfResponse } from './Probe.js';

const reachable = findings('reachable');

/** Whether a ledger answers, and not another server. */
export function checkReachable({ connection, env }: Probe, basics: Basics): Observable<Finding> {
  const { version, ledgerEnd, prunedOffsets } = basics;
  const outcomes = [version, ledgerEnd, prunedOffsets];
  const responses = outcomes.flatMap((outcome) => ('response' in outcome ? [outcome.response] : []));
  const [first] = responses;
  if (first !== undefined) return of(answerFinding(first, responses));
  const error: unknown = 'error' in version ? version.error : undefined;
  const isConnected$ =
    isLedgerError(error, 'RequestTimeoutError') && proxyOf(connection, env)?.isUsed !== true
      ? acceptsConnections(connection)
      : of(true);
  return isConnected$.pipe(map((isConnected) => reachable.failed(troubleOfError(error, isConnected))));
}

function answerFinding(first: ProbeResponse, responses: readonly ProbeResponse[]): Finding {
  const response = responses.find(isOfLedger);
  if (response !== undefined) return reachable.ok('yes', { tookMs: Math.round(response.tookMs) });
  const trouble = troubleOfResponse(first);
  if (trouble !== undefined && trouble.kind !== 'other') return reachable.failed(trouble);
  return reachable.failed({
    kind: 'foreign',
    text:
      first.status === 404
        ? 'a server answers, but has no ledger at this address (404)'
        : 'the server is not a JSON Ledger API',
    next: 'check the path prefix of --ledger, and that this is the port of the JSON Ledger API',
  });
}

/** Judges by the body: the 404 of a ledger has another body than that of a web server. */
function isOfLedger({ status, text }: ProbeResponse): boolean {
  if (cantonErrorCode(text) !== undefined) return true;
  const json = parseJson(text);
  // the response of a gateway
  if (json === undefined) return status === 401 && !text.trimStart().startsWith('<');
  const names = typeof json === 'object' && json !== null ? Object.keys(json) : [];
  return ['version', 'offset', 'participantPrunedUpToInclusive', 'ledgerApiError'].some((name) => names.includes(name));
}

const connectTimeoutMs = 1_000;

/** Whether the server accepts a TCP connection. fetch does not report whether it timed out before connecting or after. */
const acceptsConnections = ({ ledger }: Connection): Observable<boolean> =>
  new Observable<boolean>((subscriber) => {
    const url = new URL(ledger);
    const socket = connect({ host: url.hostname.replaceAll(/[[\]]/g, ''), port: portOf(url) });
    const emit = (isConnected: boolean) => (): void => {
      subscriber.next(isConnected);
      subscriber.complete();
    };
    socket.on('connect', emit(true)).on('error', emit(false));
    return () => {
      socket.destroy();
    };
  }).pipe(timeout({ first: connectTimeoutMs, with: () => of(false) }));

const encryption = findings('encryption');

/** Warns if the token is sent where others can read it, or to a server that is not verified; no finding otherwise. */
export function checkEncryption({ connection: { ledger, token }, env }: Probe): readonly Finding[] {
  const { protocol, hostname } = new URL(ledger);
  if (protocol === 'https:' && env['NODE_TLS_REJECT_UNAUTHORIZED'] === '0')
    return [
      encryption.warned({
        text: 'certificates are not verified: NODE_TLS_REJECT_UNAUTHORIZED=0',
        next: 'unset it, and add the authority of the ledger with NODE_EXTRA_CA_CERTS=FILE',
      }),
    ];
  if (token === undefined || protocol === 'https:' || isThisMachine(hostname)) return [];
  return [
    encryption.warned({
      text: 'the token is sent over plain http to another host: others on the network can read it',
      next: 'use https://, or a tunnel to a port of this machine; replace the token if others may have read it',
    }),
  ];
}

const proxy = findings('proxy');

/** Reports the proxy of the environment, and whether Node.js uses it; no finding without one. */
export function checkProxy({ connection, env }: Probe): readonly Finding[] {
  const found = proxyOf(connection, env);
  if (found === undefined) return [];
  const { name, isUsed } = found;
  return [
    isUsed
      ? proxy.ok(`requests go through that of ${name}`)
      : proxy.open(`not used, although ${name} is set: Node.js 24 uses it with NODE_USE_ENV_PROXY=1`),
  ];
}

/** The variable that names a proxy for a ledger, and whether Node.js uses it; `undefined` without one. */
function proxyOf({ ledger }: Connection, env: World['env']) {
  const { protocol, hostname } = new URL(ledger);
  const scheme = protocol === 'https:' ? 'https_proxy' : 'http_proxy';
  const name = [scheme, scheme.toUpperCase()].find((one) => (env[one] ?? '') !== '');
  const direct = (env['no_proxy'] ?? env['NO_PROXY'] ?? '').split(/[\s,]+/).map((host) => host.replace(/^\*?\./, ''));
  const isDirect = direct.some((host) => host === '*' || host === hostname || (host && hostname.endsWith(`.${host}`)));
  if (name === undefined || isDirect) return undefined;
  const isSupported = Number(process.versions.node.split('.')[0]) >= 24;
  return { name, isUsed: isSupported && env['NODE_USE_ENV_PROXY'] === '1' };
}

const roundTrip = findings('roundTrip');

const roundTripsMs = 2_000;

const roundTrips = 9;

/** How long a small request takes on an open connection. */
export const checkRoundTrip = ({ connection }: Probe, { endOffset }: Basics): Observable<Finding> =>
  defer(() => {
    const path = endOffset === undefined ? '/v2/version' : '/v2/state/ledger-end';
    const response$ = range(0, roundTrips + 1).pipe(
      // one after the other, so that fetch uses one connection
      concatMap(() => probe(connection, { method: 'GET', path }, roundTripsMs)),
      catchError(() => EMPTY),
      takeUntil(timer(roundTripsMs)),
    );
    return response$.pipe(
      toArray(),
      // the first one may have opened the connection
      map(([, ...responses]) => roundTripFinding(responses.map(({ tookMs }) => tookMs))),
    );
  });

function roundTripFinding(times: readonly number[]): Finding {
  const sorted = [...times].sort((a, b) => a - b);
  const [least, median, most] = [sorted[0], sorted[Math.floor(sorted.length / 2)], sorted.at(-1)];
  if (least === undefined || median === undefined || most === undefined)
    return roundTrip.open('unknown: no response in time');
  const [leastMs, medianMs, mostMs] = [oneDecimal(least), oneDecimal(median), oneDecimal(most)];
  const count = sorted.length;
  return roundTrip.ok(`${medianMs} ms, median of ${count} from ${leastMs} to ${mostMs} ms`, {
    medianMs,
    leastMs,
    mostMs,
    count,
  });
}

const clock = findings('clock');

/** The difference between two clocks that is a failure, in seconds: tokens are valid for minutes only. */
const maxSkew = 5;

/** Compares the clocks of this machine and of the service by the `Date` of the fastest response. */
export function checkClock({ version, ledgerEnd, prunedOffsets }: Basics): Finding {
  const skews = [version, ledgerEnd, prunedOffsets]
    .flatMap((outcome) => ('response' in outcome ? clockSkew(outcome.response) : []))
    .sort((a, b) => a.within - b.within);
  const [best] = skews;
  if (best === undefined) return clock.open('unknown: the responses have no Date header');
  const { ahead, within } = best;
  const data = { aheadSeconds: oneDecimal(ahead), withinSeconds: oneDecimal(within) };
  const precision = `to within ${within.toFixed(1)} s, by the Date header, possibly of a proxy`;
  const skew = `the participant is ${Math.abs(ahead).toFixed(1)} s ${ahead > 0 ? 'ahead' : 'behind'}, ${precision}`;
  if (Math.abs(ahead) - within > maxSkew) {
    const next = 'synchronize both clocks by NTP: tokens and the times of submissions depend on them';
    return clock.failed({ kind: 'other', text: skew, next }, data);
  }
  return clock.ok(Math.abs(ahead) <= within ? `in sync ${precision}` : skew, data);
}

/**
 * A `Date` has whole seconds, rounded down, of any moment between the request and the response, or up to a second before:
 * servers keep the header for that long.
 */
function clockSkew(response: ProbeResponse): readonly { ahead: number; within: number }[] {
  const { headers, sentAt, receivedAt } = response;
  const date = Date.parse(headers['date'] ?? '');
  if (Number.isNaN(date)) return [];
  const ahead = (date + 1_000 - (sentAt + receivedAt) / 2) / 1_000;
  return [{ ahead, within: 1 + (receivedAt - sentAt) / 2_000 }];
}

const oneDecimal = (number: number): number => Math.round(number * 10) / 10;
