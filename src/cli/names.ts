import {
  catchError,
  concatMap,
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
  toArray,
} from 'rxjs';
import { acsDelta, isLedgerError, type Ledger } from '../index.js';
import { suggest } from './arguments.js';
import { synchronizersOf } from './probe.js';
import type { Names } from './Selection.js';
import type { Session } from './Session.js';
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
  const list = /\[([^\]]*)\]/.exec(reason)?.[1] ?? '';
  return list.includes(`(${name},${entity})`) || list.split(/,\s*/).includes(name);
}
