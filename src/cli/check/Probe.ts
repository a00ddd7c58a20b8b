import * as t from 'io-ts';
import { catchError, forkJoin, map, type Observable, of } from 'rxjs';
import { connectionTrouble } from '../../errors/connectionTrouble.js';
import { acsDelta, isLedgerError } from '../../index.js';
import type { Connection } from '../Connection.js';
import { decodeJson, decodeResponse, parseJson, probe, type ProbeRequest, type ProbeResponse } from '../participant.js';
import type { Names } from '../Selection.js';
import { escapeText } from '../terminal.js';
import type { World } from '../World.js';
import type { Trouble } from './Finding.js';

/** The ledger that checks send requests to. */
export interface Probe {
  readonly connection: Connection;
  /** The parties to read as. */
  readonly parties: Names['parties'];
  readonly env: World['env'];
}

/** A response, or the error of a request without one. */
export type Outcome = { readonly response: ProbeResponse } | { readonly error: unknown };

/** The outcomes of the first requests, which the other checks build on. */
export interface Basics {
  readonly version: Outcome;
  readonly ledgerEnd: Outcome;
  readonly prunedOffsets: Outcome;
  /** The ledger end and the offset up to which the ledger is pruned, if the service reports them. */
  readonly endOffset: number | undefined;
  readonly prunedOffset: number | undefined;
}

/** Whether the service refuses the token, or requires one. */
export const isTokenRefused = ({ ledgerEnd }: Basics): boolean =>
  'response' in ledgerEnd && ledgerEnd.response.status === 401;

/** Sends the first requests, which need nothing but a connection and possibly a token. */
export function requestBasics({ connection }: Probe): Observable<Basics> {
  const outcomeOf = (request: ProbeRequest): Observable<Outcome> =>
    probe(connection, request).pipe(
      map((response): Outcome => ({ response })),
      catchError((error: unknown) => of<Outcome>({ error })),
    );
  return forkJoin({
    // without the token: reaching a ledger and being accepted by it are two findings
    version: outcomeOf({ method: 'GET', path: '/v2/version', isAnonymous: true }),
    ledgerEnd: outcomeOf({ method: 'GET', path: '/v2/state/ledger-end' }),
    prunedOffsets: outcomeOf({ method: 'GET', path: '/v2/state/latest-pruned-offsets' }),
  }).pipe(
    map((outcomes) => ({
      ...outcomes,
      endOffset: decodeOutcome(outcomes.ledgerEnd, LedgerEnd)?.offset,
      prunedOffset: decodeOutcome(outcomes.prunedOffsets, PrunedOffsets)?.participantPrunedUpToInclusive,
    })),
  );
}

const LedgerEnd = t.type({ offset: t.number });

const PrunedOffsets = t.type({ participantPrunedUpToInclusive: t.number });

const decodeOutcome = <A>(outcome: Outcome, codec: t.Type<A, unknown>): A | undefined =>
  'response' in outcome ? decodeResponse(outcome.response, codec) : undefined;

/** Whether a service lacks an endpoint or has disabled it. */
export const lacksEndpoint = ({ status, text }: ProbeResponse): boolean =>
  [404, 405, 501].includes(status) || cantonErrorCode(text) === 'DEPRECATED_API_DISABLED';

/** The code of the error in the body of a response; `undefined` for any other body. */
export const cantonErrorCode = (text: string): string | undefined => decodeJson(text, CantonError)?.code;

const CantonError = t.type({ code: t.string, cause: t.string });

/** An id with the start of its fingerprint, which is enough to distinguish ids. */
export function shortenId(id: string): string {
  const [name = '', fingerprint] = id.split('::');
  const start = fingerprint === undefined ? '' : `::${fingerprint.slice(0, 12)}…`;
  return escapeText(`${name.slice(0, 60)}${start}`);
}

/** The body of a request for the updates of a range. */
export const updatesBody = (
  parties: Names['parties'],
  range: { readonly beginExclusive: number; readonly endInclusive?: number },
): object => ({ ...range, updateFormat: acsDelta({ parties }) });

const checkPort = 'check that this is the port of the JSON Ledger API';

/** What is wrong with a response; `undefined` for JSON with status 200, whatever its content. */
export function troubleOfResponse({
  status,
  headers,
  text,
}: Pick<ProbeResponse, 'status' | 'headers' | 'text'>): Trouble | undefined {
  const code = cantonErrorCode(text);
  if (code === undefined && outages[status] !== undefined) return { kind: 'unreachable', ...outages[status] };
  if (isHtml(headers['content-type'], text))
    return {
      kind: 'foreign',
      text: `the server answers with an HTML page (${status})`,
      next: `look for a proxy or a login page in front of the ledger, and ${checkPort}`,
    };
  if (status === 200) return parseJson(text) === undefined ? notJson : undefined;
  if (status >= 300 && status < 400)
    return {
      kind: 'foreign',
      text: `the server redirects to another address (${status})`,
      next: 'use the address of the redirect: requests with a token do not follow redirects',
    };
  if (status === 401)
    return {
      kind: 'token',
      text: 'token refused (401)',
      next: 'get a new token; the log of the participant has the reason',
    };
  if (isUserRefused({ status, text }))
    return {
      kind: 'token',
      text: 'the participant does not know the user of the token, or it is deactivated (403)',
      next: 'let an administrator create or activate the user, or use a token of another one',
    };
  if (status === 403)
    return { kind: 'token', text: 'the user of the token lacks a right (403)', next: 'grant the right to the user' };
  return {
    kind: 'other',
    text: `the server answered ${status}${code === undefined ? '' : ` ${escapeText(code).slice(0, 60)}`}`,
  };
}

/** Whether a participant says that it does not know the user of the token, or that the user is deactivated. */
export const isUserRefused = ({ status, text }: Pick<ProbeResponse, 'status' | 'text'>): boolean =>
  status === 403 && /"ledger_api_error"\s*:\s*"invalid token"/i.test(text);

const gatewayOutage = (status: number): Omit<Trouble, 'kind'> => ({
  text: `a gateway answers, but the participant does not (${status})`,
  next: 'check that the participant is running; it may be starting',
});

/** What a gateway or proxy reports, by its status, whatever page it sends. */
const outages: Readonly<Partial<Record<number, Omit<Trouble, 'kind'>>>> = {
  407: {
    text: 'a proxy requires credentials (407)',
    next: 'put user and password in the URL of HTTP_PROXY or HTTPS_PROXY, or list the ledger in NO_PROXY',
  },
  429: {
    text: 'the rate of requests is limited (429)',
    next: 'wait, and send less: several programs may share the limit of a gateway',
  },
  502: gatewayOutage(502),
  503: gatewayOutage(503),
  504: gatewayOutage(504),
};

const notJson: Trouble = { kind: 'foreign', text: 'the response is not JSON', next: checkPort };

const isHtml = (type: string | undefined, text: string): boolean =>
  type?.includes('html') === true || /^\s*<(?:!doctype|html)/i.test(text);

/**
 * Why there is no response.
 *
 * @param isConnected - whether the server accepts connections, which distinguishes the causes of a timeout
 */
export function troubleOfError(error: unknown, isConnected = true): Trouble {
  if (!isLedgerError(error)) return flaw;
  switch (error._tag) {
    case 'RequestTimeoutError':
      return isConnected ? noResponse : noConnection;
    case 'TokenError':
      return {
        kind: 'token',
        text: 'the token file can no longer be read',
        next: 'restore the file, or give another one with --token-file',
      };
    case 'ResponseTooLargeError':
      return {
        kind: 'foreign',
        text: `the response is larger than ${error.maxBytes / 2 ** 20} MiB`,
        next: checkPort,
      };
    case 'ConnectionError':
      return codeTrouble(error.code);
    default:
      return flaw;
  }
}

const flaw: Trouble = {
  kind: 'other',
  text: 'the check itself failed',
  next: 'report this to the authors of canton-rx',
};

const noResponse: Trouble = {
  kind: 'unreachable',
  text: 'connected, but no response in time',
  next: 'the participant may be overloaded or starting; check the port',
};

const noConnection: Trouble = {
  kind: 'unreachable',
  text: 'no connection in time',
  next: 'a firewall may drop the packets: check host, port, VPN and proxy',
};

function codeTrouble(code: string | undefined): Trouble {
  if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') return notJson;
  const { isForeign = false, ...trouble } = connectionTrouble(code) ?? {
    text: `the connection failed (${String(code)})`,
  };
  return { kind: isForeign ? 'foreign' : 'unreachable', ...trouble };
}
