import * as t from 'io-ts';
import {
  catchError,
  concatMap,
  EMPTY,
  from as fromList,
  ignoreElements,
  map,
  type Observable,
  of,
  switchMap,
  take,
  tap,
  throwError,
  timeout,
  toArray,
} from 'rxjs';
import { acsDelta } from '../codecs/formats.js';
import type { Party } from '../codecs/scalars.js';
import { isApiError } from '../errors/ApiError.js';
import type { Ledger } from '../ledger/Ledger.js';
import { suggest } from './arguments.js';
import type { Connection } from './Connection.js';
import type { Output } from './output.js';
import { decodeResponse, probe } from './probe.js';
import { escapeText } from './text.js';
import { errorLine } from './World.js';

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
export const checkParties = (
  ledger: Ledger,
  connection: Connection,
  parties: readonly Party[] | 'any',
): Observable<never> =>
  fromList(parties === 'any' ? [] : parties).pipe(
    concatMap((party) =>
      isUnknown(connection, party).pipe(
        switchMap((unknown) =>
          unknown ? similarParty(ledger, party).pipe(map((id) => unknownParty(party, id))) : EMPTY,
        ),
      ),
    ),
    tap((error) => {
      throw error;
    }),
    ignoreElements(),
  );

/** The parties that the participant does not know; none if that is not known in time. */
export const unknownParties = (
  connection: Connection,
  parties: readonly Party[] | 'any',
): Observable<readonly Party[]> =>
  fromList(parties === 'any' ? [] : parties).pipe(
    concatMap((party) => isUnknown(connection, party).pipe(map((unknown) => (unknown ? [party] : [])))),
    toArray(),
    map((lists) => lists.flat()),
    timeout(timeoutMs),
    catchError(() => of([])),
  );

const unknownParty = (party: Party, similar: string | undefined): UnknownPartyError => {
  const advice = similar === undefined ? 'check the spelling of --party' : `did you mean ${escapeText(similar)}?`;
  return new UnknownPartyError(`the participant does not know the party ${party}: ${advice}`);
};

const Synchronizers = t.type({
  connectedSynchronizers: t.array(t.type({ synchronizerId: t.string })),
});

/** Names the synchronizers to which the participant is not connected on stderr: the history may have updates of them. */
export const warnOfSynchronizers = (
  connection: Connection,
  synchronizers: readonly string[],
  stderr: Output,
): Observable<never> =>
  (synchronizers.length === 0
    ? EMPTY
    : probe(connection, { method: 'GET', path: '/v2/state/connected-synchronizers' }, timeoutMs)
  ).pipe(
    tap((response) => {
      const connected = decodeResponse(response, Synchronizers)?.connectedSynchronizers ?? [];
      const ids = connected.map(({ synchronizerId }) => synchronizerId);
      for (const id of ids.length === 0 ? [] : synchronizers.filter((one) => !ids.includes(one)))
        stderr.write(
          errorLine(`the participant is not connected to the synchronizer ${escapeText(id)}: ${adviceOn(id, ids)}`),
        );
    }),
    ignoreElements(),
    catchError(() => EMPTY),
  );

/** Users may give the short name of a synchronizer, as rows have it. */
function adviceOn(id: string, ids: readonly string[]): string {
  const similar = ids.find((one) => nameOf(one) === nameOf(id));
  return similar === undefined ? 'only earlier updates can be of it' : `did you mean ${escapeText(similar)}?`;
}

const Parties = t.type({ partyDetails: t.array(t.unknown) });

/**
 * Whether a participant that is connected to a synchronizer hosts a party on none of them, and does not list it either. The
 * list requires the rights of an administrator; without them, the first is enough.
 */
function isUnknown(connection: Connection, party: Party): Observable<boolean> {
  const count = (path: string): Observable<number | undefined> =>
    probe(connection, { method: 'GET', path }, timeoutMs).pipe(
      map(
        (response) =>
          decodeResponse(response, Synchronizers)?.connectedSynchronizers.length ??
          decodeResponse(response, Parties)?.partyDetails.length,
      ),
      catchError(() => of(undefined)),
    );
  const [synchronizers, id] = ['/v2/state/connected-synchronizers', encodeURIComponent(party)];
  return count(`${synchronizers}?party=${id}`).pipe(
    switchMap((hosting) =>
      hosting === 0
        ? count(synchronizers).pipe(
            switchMap((connected) => ((connected ?? 0) > 0 ? count(`/v2/parties/${id}`) : of(1))),
            map((listed) => (listed ?? 0) === 0),
          )
        : of(false),
    ),
  );
}

/** How many of the last offsets to search for a similar party. */
const lastOffsets = 100;

const partyId = /[^"\\\s]+::[0-9a-f]{8,}/g;

/** A party of the last updates with a similar name; `undefined` if there is none, or if the user may not read as any party. */
const similarParty = (ledger: Ledger, party: Party): Observable<string | undefined> =>
  ledger.ledgerEnd().pipe(
    switchMap((endInclusive) =>
      ledger.updates({
        beginExclusive: Math.max(0, endInclusive - lastOffsets),
        endInclusive,
        updateFormat: acsDelta({ parties: 'any' }),
      }),
    ),
    take(lastOffsets),
    toArray(),
    map((updates) => {
      const ids = [...new Set(JSON.stringify(updates).match(partyId) ?? [])];
      const similar = suggest(nameOf(party), ids.map(nameOf));
      return ids.find((id) => nameOf(id) === similar);
    }),
    timeout(timeoutMs),
    catchError(() => of(undefined)),
  );

/**
 * Completes if the participant accepts the templates, or if that is not known. Fails with an error that
 * {@link templateMessage} explains, and with no other error.
 */
export const checkTemplates = (
  ledger: Ledger,
  parties: readonly Party[] | 'any',
  templates: readonly string[],
): Observable<never> =>
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

const nameOf = (party: string): string => party.split('::')[0] ?? '';

const unknownNames = /^(?:PACKAGE_NAMES_NOT_FOUND|NO_TEMPLATES_FOR|TEMPLATES_OR_INTERFACES_NOT_FOUND)/;

/** The message and the next step for an error about `--template`; `undefined` for any other error. */
export function templateMessage(error: unknown, templates: readonly string[]): string | undefined {
  if (!isApiError(error) || templates.length === 0) return undefined;
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
  const list = /\[([^\]]*)\]/.exec(reason)?.[1] ?? '';
  return list.includes(`(${name},${entity})`) || list.split(/,\s*/).includes(name);
}
