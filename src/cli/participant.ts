import * as t from 'io-ts';
import {
  catchError,
  concatMap,
  defer,
  EMPTY,
  filter,
  ignoreElements,
  map,
  type Observable,
  of,
  switchMap,
  tap,
  throwError,
  timeout,
  TimeoutError,
  toArray,
} from 'rxjs';
import { toConnectionError } from '../client/exchange.js';
import { kyPort } from '../http/kyPort.js';
import { acsDelta, type HttpResponse, isLedgerError, type Ledger, RequestTimeoutError, TokenError } from '../index.js';
import { suggest } from './arguments.js';
import type { Connection } from './Connection.js';
import type { Names } from './Selection.js';
import type { Session } from './Session.js';
import { escapeText } from './terminal.js';
import { errorLine } from './World.js';

/** One request of a command that inspects a service more closely than the library does. */
export interface ProbeRequest {
  readonly method: 'GET' | 'POST';
  /** The path, with its query if there is one. */
  readonly path: string;
  /** The value of the JSON body, for POST. */
  readonly body?: unknown;
  /** The text of the body, in place of a value. */
  readonly text?: string;
  /** Whether the token is left out. */
  readonly isAnonymous?: boolean;
}

/** A response of whatever status. */
export interface ProbeResponse extends HttpResponse {
  /** When the request was sent and when the response was complete, in milliseconds since 1970. */
  readonly sentAt: number;
  readonly receivedAt: number;
  /** The time between the two, by the monotonic clock, in milliseconds. */
  readonly tookMs: number;
}

/** How much of a response is read, in bytes. */
const maxResponseBytes = 4 * 2 ** 20;

/** How long a response may take, in milliseconds. A check sends three requests in a row in less than 15 seconds. */
export const probeTimeoutMs = 3_500;

/**
 * Sends one request as the library does and emits the response, of whatever status: the library turns a status into an error
 * without the headers and without the body. Errors with a `LedgerError` that holds nothing of the request if there is no
 * response.
 */
export const probe = (
  connection: Connection,
  { method, path, body, text = toJson(body), isAnonymous = false }: ProbeRequest,
  timeoutMs = probeTimeoutMs,
): Observable<ProbeResponse> =>
  defer(() => {
    const token = isAnonymous ? undefined : tokenOf(connection);
    const [sentAt, startedAt] = [Date.now(), performance.now()];
    const response$ = kyPort({ maxResponseBytes, fetch: connection.fetch })({
      method,
      url: endpointUrl(connection, path),
      headers: {
        ...(text !== undefined && { 'content-type': 'application/json' }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
      ...(text !== undefined && { body: text }),
    });
    return response$.pipe(
      map((response) => ({ ...response, sentAt, receivedAt: Date.now(), tookMs: performance.now() - startedAt })),
      timeout(timeoutMs),
      catchError((error: unknown) => {
        throw error instanceof TimeoutError ? new RequestTimeoutError(path, timeoutMs) : toConnectionError(path, error);
      }),
    );
  });

const toJson = (body: unknown): string | undefined => (body === undefined ? undefined : JSON.stringify(body));

/** The URL of an endpoint of a ledger. */
export const endpointUrl = ({ ledger }: Connection, path: string): string =>
  `${ledger.replace(/(?<!\/)\/+$/, '')}${path}`;

/** The current token; `undefined` if none is sent. Throws a `TokenError`: its file may be gone by now. */
export function tokenOf({ token }: Connection): string | undefined {
  try {
    return token?.();
  } catch {
    throw new TokenError('its file cannot be read');
  }
}

/** Decodes JSON; `undefined` for any other text. */
export function decodeJson<A>(text: string, codec: t.Type<A, unknown>): A | undefined {
  try {
    const decoded = codec.decode(JSON.parse(text));
    return decoded._tag === 'Right' ? decoded.right : undefined;
  } catch {
    return undefined;
  }
}

/** The value of JSON; `undefined` for any other text. */
export const parseJson = (text: string): unknown => decodeJson(text, t.unknown);

/** Decodes the JSON of a response with status 200; `undefined` for any other response. */
export const decodeResponse = <A>(
  { status, text }: Pick<ProbeResponse, 'status' | 'text'>,
  codec: t.Type<A, unknown>,
): A | undefined => (status === 200 ? decodeJson(text, codec) : undefined);

const ParticipantId = t.type({ participantId: t.string });

/** The id of the participant; `undefined` if the service does not report it. */
export const participantId = (connection: Connection): Observable<string | undefined> =>
  probe(connection, { method: 'GET', path: '/v2/parties/participant-id' }).pipe(
    map((response) => decodeResponse(response, ParticipantId)?.participantId),
    catchError(() => of(undefined)),
  );

const Synchronizers = t.type({ connectedSynchronizers: t.array(t.type({ synchronizerId: t.string })) });

/** The synchronizers of the participant, or those on which it hosts a party; `undefined` if it does not report them. */
export const synchronizersOf = (connection: Connection, party?: string): Observable<readonly string[] | undefined> => {
  const query = party === undefined ? '' : `?party=${encodeURIComponent(party)}`;
  return probe(connection, { method: 'GET', path: `/v2/state/connected-synchronizers${query}` }).pipe(
    map((response) => decodeResponse(response, Synchronizers)?.connectedSynchronizers),
    map((synchronizers) => synchronizers?.map(({ synchronizerId }) => synchronizerId)),
    catchError(() => of(undefined)),
  );
};

/** A party of the arguments that the participant does not know. The message has the next step. */
export class UnknownPartyError extends Error {
  /** The class's name. */
  override readonly name = 'UnknownPartyError' as const;
}

const timeoutMs = 3_000;

/**
 * Completes if the participant knows the parties, or if that is not known: participants answer requests for a party that does
 * not exist with nothing. Fails with an {@link UnknownPartyError}, and with no other error.
 */
export const checkParties = (session: Inspected, parties: Names['parties']): Observable<never> =>
  unknownIn(session, parties).pipe(
    map(({ party, listed }) => {
      throw unknownParty(party, listed);
    }),
  );

/** The parties that the participant does not know; none if that is not known in time. */
export const unknownParties = (session: Inspected, parties: Names['parties']): Observable<readonly string[]> =>
  unknownIn(session, parties).pipe(
    map(({ party }) => party),
    toArray(),
    timeout(timeoutMs),
    catchError(() => of([])),
  );

/** The ledger whose parties are looked up. */
type Inspected = Pick<Session, 'connection'> & { readonly ledger: Pick<Ledger, 'parties'> };

/** A party that the participant does not know, and those that it lists. */
interface Unknown {
  readonly party: string;
  readonly listed: readonly string[];
}

/**
 * The parties that a participant which is connected to a synchronizer hosts on none of them, and does not list either. The
 * list requires the rights of an administrator; without them, the first is enough.
 */
const unknownIn = ({ connection, ledger }: Inspected, parties: Names['parties']): Observable<Unknown> =>
  of(...(parties === 'any' ? [] : parties)).pipe(
    concatMap((party) =>
      synchronizersOf(connection, party).pipe(
        filter((hosting) => hosting?.length === 0),
        switchMap(() => synchronizersOf(connection)),
        filter((connected = []) => connected.length > 0),
        switchMap(() => listedParties(ledger)),
        filter((listed) => !listed.includes(party)),
        map((listed) => ({ party, listed })),
      ),
    ),
  );

/** The parties that the participant lists: none if the user may not read the list, and no value if that takes too long. */
const listedParties = (ledger: Inspected['ledger']): Observable<readonly string[]> =>
  ledger.parties().pipe(
    map(({ party }) => party),
    toArray(),
    timeout(timeoutMs),
    catchError((error: unknown) => (isLedgerError(error, 'ApiError') ? of([]) : EMPTY)),
  );

function unknownParty(party: string, listed: readonly string[]): UnknownPartyError {
  const name = suggest(nameOf(party), listed.map(nameOf));
  const similar = listed.find((one) => nameOf(one) === name);
  const advice = similar === undefined ? 'check the spelling of --party' : `did you mean ${escapeText(similar)}?`;
  return new UnknownPartyError(`the participant does not know the party ${party}: ${advice}`);
}

const nameOf = (party: string): string => party.split('::')[0] ?? '';

/** Names the synchronizers to which the participant is not connected on stderr: the history may have updates of them. */
export const warnOfSynchronizers = (
  { connection, world: { stderr } }: Session,
  synchronizers: readonly string[],
): Observable<never> =>
  (synchronizers.length === 0 ? EMPTY : synchronizersOf(connection)).pipe(
    tap((connected = []) => {
      for (const id of connected.length === 0 ? [] : synchronizers.filter((one) => !connected.includes(one))) {
        // users may give the short name of a synchronizer, as rows have it
        const similar = connected.find((one) => nameOf(one) === nameOf(id));
        const advice =
          similar === undefined ? 'only earlier updates can be of it' : `did you mean ${escapeText(similar)}?`;
        stderr.write(errorLine(`the participant is not connected to the synchronizer ${escapeText(id)}: ${advice}`));
      }
    }),
    ignoreElements(),
  );

/**
 * Completes if the participant accepts the templates, or if that is not known. Fails with an error that
 * {@link templateMessage} explains, and with no other error.
 */
export const checkTemplates = ({ ledger }: Session, { parties, templates }: Names): Observable<never> =>
  (templates.length === 0 ? EMPTY : ledger.ledgerEnd()).pipe(
    switchMap((end) =>
      ledger.updates({
        beginExclusive: Math.max(0, end - 1),
        endInclusive: end,
        updateFormat: acsDelta({ parties, templates }),
      }),
    ),
    ignoreElements(),
    timeout(timeoutMs),
    catchError((error: unknown) => (templateMessage(error, templates) === undefined ? EMPTY : throwError(() => error))),
  );

const unknownNames = /^(?:PACKAGE_NAMES_NOT_FOUND|NO_TEMPLATES_FOR|TEMPLATES_OR_INTERFACES_NOT_FOUND)/;

/** The message and the next step for an error about `--template`; `undefined` for any other error. */
export function templateMessage(error: unknown, templates: readonly string[]): string | undefined {
  if (!isLedgerError(error, 'ApiError') || templates.length === 0) return undefined;
  const { code = '', reason } = error;
  if (unknownNames.test(code)) {
    const named = templates.filter((template) => isNamed(template, reason));
    const unknown = named.length > 0 ? named : templates;
    const names = `${unknown.length === 1 ? 'template' : 'templates'} ${unknown.join(', ')}`;
    return `the participant does not know the ${names}: check the spelling of --template, and that the package is uploaded`;
  }
  const packageId = /identifier with package ID (\w+)/.exec(reason)?.[1];
  return code === 'INVALID_FIELD' && packageId !== undefined
    ? `the participant does not accept the package id ${packageId} in --template: write #package-name:Module:Entity`
    : undefined;
}

/** Whether the reason that a participant gives names a template, as `[package]` or as `[(package,Module:Entity)]`. */
function isNamed(template: string, reason: string): boolean {
  const [, name = '', entity = ''] = /^#([^:]*):(.*)$/.exec(template) ?? [];
  const list = /\[([^[\]]*)\]/.exec(reason)?.[1] ?? '';
  return list.includes(`(${name},${entity})`) || list.split(/,\s*/).includes(name);
}
