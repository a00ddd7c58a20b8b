import * as t from 'io-ts';
import {
  catchError,
  concatMap,
  defaultIfEmpty,
  defer,
  endWith,
  forkJoin,
  map,
  type Observable,
  of,
  switchMap,
  throwError,
  timeout,
} from 'rxjs';
import { LedgerEnd } from '../../codecs/OffsetCheckpoint.js';
import { Offset, type Party } from '../../codecs/scalars.js';
import { RequestTimeoutError } from '../../errors/request.js';
import { hasCode } from '../../file/durable.js';
import { parseOptions } from '../arguments.js';
import { type Connection, connectionOptions, readConnection } from '../Connection.js';
import { decodeResponse, probe, type ProbeRequest } from '../probe.js';
import { readParties } from '../Selection.js';
import { columnsOf, paintFor, statusLine } from '../terminal.js';
import { escapeJsonLine } from '../text.js';
import { flush } from '../output.js';
import { unknownParties } from '../unknownNames.js';
import { errorLine, messageOf, type World } from '../World.js';
import { checkClock, checkEncryption, checkReachable, checkRoundTrip } from './connection.js';
import { type Basics, type Finding, findings, type Outcome, type Probe, shortenId } from './Finding.js';
import { createReport, formatReport } from './report.js';
import { checkEndpoints, checkParticipant, checkSynchronizers, checkVersion } from './service.js';
import { checkWebSocket } from './socket.js';
import { checkToken } from './token.js';
import { troubleOfError } from './trouble.js';
import { checkOffsets, checkPageLimit, checkUpdates } from './updates.js';

/** `canton-rx check`; emits the exit code, once. */
export function checkCommand(args: readonly string[], { env, stdout, stderr }: World): Observable<number> {
  const options = readCheckOptions(args, env);
  const status = statusLine(stderr, paintFor(stderr, env));
  return defer(() => {
    status.show((paint) => paint('dim', 'checking the ledger …'));
    return runChecks(options);
  }).pipe(
    concatMap((results) => {
      status.clear();
      const report = createReport(options.ledger, results);
      stdout.write(
        options.isJson
          ? escapeJsonLine(`${JSON.stringify(report)}\n`)
          : formatReport(report, columnsOf(stdout, 100), paintFor(stdout, env)),
      );
      return flush(stdout).pipe(
        endWith(report.exitCode),
        catchError((error: unknown) => {
          // a reader that closes the pipe is not a failure
          if (hasCode(error, 'EPIPE')) return of(report.exitCode);
          stderr.write(errorLine(`cannot write to stdout: ${messageOf(error)}`));
          return of(1);
        }),
      );
    }),
  );
}

/** The ledger to check, and the form of the report. */
interface CheckOptions extends Connection {
  /** The parties to read as. */
  readonly parties: readonly Party[] | 'any';
  /** Whether the report is for programs. */
  readonly isJson: boolean;
}

/** The options in the arguments and the environment. Throws a `UsageError`. */
function readCheckOptions(args: readonly string[], env: World['env']): CheckOptions {
  const values = parseOptions(args, {
    ...connectionOptions,
    party: { type: 'string', multiple: true },
    json: { type: 'boolean' },
  });
  return { ...readConnection(values, env), parties: readParties(values.party), isJson: values.json ?? false };
}

/** Three requests in a row and two seconds of round trips take less than 15 seconds, even if none is answered. */
const timeoutMs = 3_500;

/** All findings, in the order of the report. */
export function runChecks(options: Omit<CheckOptions, 'isJson'>): Observable<readonly Finding[]> {
  const target: Probe = {
    connection: options,
    parties: options.parties,
    send: (request) => probe(options, request, timeoutMs),
  };
  return requestBasics(target).pipe(
    concatMap((basics) =>
      checkReachable(target, basics).pipe(
        // without a ledger there is nothing more to check
        concatMap((reachable) =>
          reachable.state === 'ok'
            ? runOtherChecks(target, basics).pipe(map((others) => [reachable, ...others]))
            : of([reachable, ...checkEncryption(options)]),
        ),
      ),
    ),
  );
}

const PrunedOffsets = t.type({ participantPrunedUpToInclusive: Offset });

/** Sends the first requests, which need nothing but a connection and possibly a token. */
function requestBasics({ send }: Probe): Observable<Basics> {
  const outcomeOf = (request: ProbeRequest): Observable<Outcome> =>
    send(request).pipe(
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

const decodeOutcome = <A>(outcome: Outcome, codec: t.Type<A, unknown>): A | undefined =>
  'response' in outcome ? decodeResponse(outcome.response, codec) : undefined;

function runOtherChecks(target: Probe, basics: Basics): Observable<readonly Finding[]> {
  const updates$ = checkUpdates(target, basics).pipe(
    switchMap(({ finding, path }) =>
      forkJoin([
        toFindings(['synchronizers', 'synchronizers'], checkSynchronizers(target, basics, path), timeoutMs),
        of([finding]),
        toFindings(['pageLimit', 'page limit'], checkPageLimit(target, basics, path), timeoutMs),
      ]).pipe(map((list) => list.flat())),
    ),
  );
  const [serviceChecks$, roundTrip$] = [
    forkJoin([
      toFindings(['version', 'version'], checkVersion(target, basics), timeoutMs),
      toFindings(['token', 'token'], checkToken(target, basics), timeoutMs),
      toFindings(['participant', 'participant'], checkParticipant(target, basics), timeoutMs),
      toFindings(['updates', 'updates'], updates$, 2 * timeoutMs),
      toFindings(['endpoints', 'endpoints'], checkEndpoints(target), timeoutMs),
      toFindings(['webSocket', 'WebSocket'], checkWebSocket(target.connection), timeoutMs),
      toFindings(['party', 'party'], checkParties(target), timeoutMs),
    ]),
    // after the others, so that they do not slow it down
    toFindings(['roundTrip', 'round trip'], checkRoundTrip(target, basics), timeoutMs),
  ];
  return serviceChecks$.pipe(
    concatMap(([version, token, participant, updates, endpoints, webSocket, parties]) =>
      roundTrip$.pipe(
        map((roundTrip) => [
          ...version,
          ...token,
          ...checkEncryption(target.connection),
          checkClock(basics),
          ...roundTrip,
          ...participant,
          ...parties,
          ...checkOffsets(basics),
          ...updates,
          ...endpoints,
          ...webSocket,
        ]),
      ),
    ),
    defaultIfEmpty([]),
  );
}

/** A finding for each party that the participant does not know: requests for it succeed without a result. */
const checkParties = ({ connection, parties }: Probe): Observable<readonly Finding[]> =>
  unknownParties(connection, parties).pipe(
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
  [id, label]: readonly [id: string, label: string],
  finding$: Observable<Finding | readonly Finding[]>,
  withinMs: number,
): Observable<readonly Finding[]> =>
  finding$.pipe(
    timeout({ each: withinMs, with: () => throwError(() => new RequestTimeoutError('', withinMs)) }),
    map((results) => [results].flat()),
    catchError((error: unknown) => of([findings(id, label).failed(troubleOfError(error))])),
  );
