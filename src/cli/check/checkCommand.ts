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
import { Offset } from '../../codecs/scalars.js';
import { connectionOptions, parsed, readConnection, readParties } from '../arguments.js';
import { help } from '../help.js';
import { ask, AskError, jsonIn, type Question } from '../probe/ask.js';
import { columnsOf, escapedLine, paintFor, statusLine } from '../terminal.js';
import { flushed, hasCode, messageOf, type World } from '../World.js';
import { checkClock, checkEncryption, checkReachable, checkRoundTrip } from './connection.js';
import { type CheckOptions, finder, type Finding, type First, type Outcome, type Probe } from './Finding.js';
import { reportOf, reportText } from './report.js';
import { checkEndpoints, checkParticipant, checkSynchronizers, checkVersion } from './service.js';
import { checkWebSocket } from './socket.js';
import { checkToken } from './token.js';
import { troubleOfError } from './trouble.js';
import { checkOffsets, checkPageLimit, checkUpdates } from './updates.js';

/** `canton-rx check`; emits the exit code, once. */
export function checkCommand(args: readonly string[], { env, stdout, stderr }: World): Observable<number> {
  const options = readCheckOptions(args, env);
  if (options === 'help') {
    stdout.write(`${help.check}\n`);
    return of(0);
  }
  const status = statusLine(stderr, paintFor(stderr, env));
  return defer(() => {
    status.show((paint) => paint('dim', 'asking the ledger …'));
    return findings(options);
  }).pipe(
    concatMap((found) => {
      status.clear();
      const report = reportOf(options.ledger, found);
      stdout.write(
        options.isJson
          ? escapedLine(`${JSON.stringify(report)}\n`)
          : reportText(report, columnsOf(stdout, 100), paintFor(stdout, env)),
      );
      return flushed(stdout).pipe(
        endWith(report.exitCode),
        catchError((error: unknown) => {
          // who has read enough
          if (hasCode(error, 'EPIPE')) return of(report.exitCode);
          stderr.write(`stdout cannot be written to: ${messageOf(error)}\n`);
          return of(1);
        }),
      );
    }),
  );
}

/** What the arguments and the environment ask for; `'help'`, if that. Throws a `UsageError`. */
function readCheckOptions(args: readonly string[], env: World['env']): CheckOptions | 'help' {
  const values = parsed(args, {
    ...connectionOptions,
    party: { type: 'string', multiple: true },
    json: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  });
  if (values.help === true) return 'help';
  return { ...readConnection(values, env), parties: readParties(values.party), isJson: values.json ?? false };
}

/** Three in a row, and two seconds of round trips: less than 15 seconds, whatever does not answer. */
const mostMs = 3_500;

/** All findings, in the order in which they are told. */
function findings(options: CheckOptions): Observable<readonly Finding[]> {
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

const Pruned = t.type({ participantPrunedUpToInclusive: Offset });

/** Asks for what needs no more than a connection, and a token perhaps. */
function askFirst({ ask }: Probe): Observable<First> {
  const outcome = (question: Question): Observable<Outcome> =>
    ask(question).pipe(
      map((answer): Outcome => ({ answer })),
      catchError((error: unknown) => of<Outcome>({ error })),
    );
  return forkJoin({
    // that needs no token: whether the ledger can be reached and whether it lets in are two questions
    version: outcome({ method: 'GET', path: '/v2/version', isAnonymous: true }),
    end: outcome({ method: 'GET', path: '/v2/state/ledger-end' }),
    pruned: outcome({ method: 'GET', path: '/v2/state/latest-pruned-offsets' }),
  }).pipe(
    map((outcomes) => ({
      ...outcomes,
      endOffset: jsonOf(outcomes.end, LedgerEnd)?.offset,
      prunedOffset: jsonOf(outcomes.pruned, Pruned)?.participantPrunedUpToInclusive,
    })),
  );
}

const jsonOf = <A>(outcome: Outcome, codec: t.Type<A, unknown>): A | undefined =>
  'answer' in outcome ? jsonIn(outcome.answer, codec) : undefined;

function further(probe: Probe, first: First): Observable<readonly Finding[]> {
  const updates$ = checkUpdates(probe, first).pipe(
    switchMap(({ finding, path }) =>
      forkJoin([
        toFinding(['synchronizers', 'synchronizers'], checkSynchronizers(probe, first, path), mostMs),
        of([finding]),
        toFinding(['pageLimit', 'page limit'], checkPageLimit(probe, first, path), mostMs),
      ]).pipe(map((list) => list.flat())),
    ),
  );
  const [ofLedger, ofRest] = [
    forkJoin([
      toFinding(['version', 'version'], checkVersion(probe, first), mostMs),
      toFinding(['token', 'token'], checkToken(probe, first), mostMs),
      toFinding(['participant', 'participant'], checkParticipant(probe), mostMs),
      toFinding(['updates', 'updates'], updates$, 2 * mostMs),
      toFinding(['endpoints', 'endpoints'], checkEndpoints(probe), mostMs),
      toFinding(['webSocket', 'WebSocket'], checkWebSocket(probe.connection), mostMs),
    ]),
    // alone, so that nothing else takes its time
    toFinding(['roundTrip', 'round trip'], checkRoundTrip(probe, first), mostMs),
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

/** What a check found, in a time; a failure of the check itself is a finding, too. */
const toFinding = (
  [id, label]: readonly [id: string, label: string],
  finding$: Observable<Finding | readonly Finding[]>,
  mostMs: number,
): Observable<readonly Finding[]> =>
  finding$.pipe(
    timeout({ each: mostMs, with: () => throwError(() => new AskError('TIMEOUT', true)) }),
    map((findings) => [findings].flat()),
    catchError((error: unknown) => of([finder(id, label).failed(troubleOfError(error))])),
  );
