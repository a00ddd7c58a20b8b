import process from 'node:process';
import { catchError, concatMap, defer, forkJoin, map, type Observable, of, switchMap, throwError, timeout } from 'rxjs';
import { RequestTimeoutError } from '../../index.js';
import { parseOptions } from '../arguments.js';
import { ledgerCommands } from '../ledgerCommands.js';
import { type Connection, isThisMachine, portOf, readConnection } from '../Connection.js';
import { version } from '../help.js';
import { probeTimeoutMs as timeoutMs, unknownParties } from '../participant.js';
import { type Names, readParties } from '../Selection.js';
import { openLedger } from '../Session.js';
import { columnsOf, jsonLine, type Paint, paintFor, statusLine } from '../terminal.js';
import { printResult, type World } from '../World.js';
import { checkOffsets, checkPageLimit, checkToken, checkUpdates } from './access.js';
import { formatConformance, readConformance } from './conformance.js';
import { checkClock, checkEncryption, checkProxy, checkReachable, checkRoundTrip } from './connection.js';
import { exitCodeOf, type Finding, findings, formatFindings, needsToken } from './Finding.js';
import { type Basics, type Probe, requestBasics, shortenId, troubleOfError } from './Probe.js';
import { checkEndpoints, checkParticipant, checkSynchronizers, checkVersion, checkWebSocket } from './service.js';

/** `canton-rx check`; emits the exit code, once. */
export function checkCommand(args: readonly string[], world: World): Observable<number> {
  const options = readCheckOptions(args, world);
  if (options.isConformance) return conformanceCommand(options, world);
  const { env, stderr } = world;
  const status = statusLine(stderr, paintFor(stderr, env));
  return defer(() => {
    status.show((paint) => paint('dim', 'checking the ledger …'));
    return runChecks(options, options.parties, env);
  }).pipe(
    concatMap((findings) => {
      status.clear();
      return printReport(findings, options, world);
    }),
  );
}

/** The ledger to check, the parties to read as, and whether the report is for programs. */
type CheckOptions = ReturnType<typeof readCheckOptions>;

function readCheckOptions(args: readonly string[], world: World) {
  const values = parseOptions(args, ledgerCommands.check.options);
  const connection = readConnection(values, world);
  return {
    ...connection,
    parties: readParties(values.party ?? connection.contextParties),
    isJson: values.json ?? false,
    isConformance: values.conformance ?? false,
    write: values.write === true ? { party: values.party?.[0], user: values['user-id'] } : undefined,
  };
}

/** `canton-rx check --conformance`: a table of what the participant serves, in place of the findings. */
function conformanceCommand(options: CheckOptions, world: World): Observable<number> {
  const { isJson, write, ledger, parties } = options;
  const target: Probe = { connection: options, parties, env: world.env };
  return reach(target).pipe(
    concatMap(({ basics, reachable }) => {
      if (reachable.state !== 'ok') return printReport([reachable], options, world);
      const { about } = createReport(ledger, []);
      return readConformance(target, basics, write).pipe(
        concatMap((conformance) => {
          const by = `canton-rx ${about['canton-rx']}, ${about.at}`;
          const text = isJson ? jsonLine({ about, ...conformance }) : formatConformance(conformance, by);
          return printResult(world, text, conformance.exitCode);
        }),
      );
    }),
  );
}

function printReport(findings: readonly Finding[], { ledger, isJson }: CheckOptions, world: World): Observable<number> {
  const { stdout, env } = world;
  const report = createReport(ledger, findings);
  const text = isJson ? jsonLine(report) : formatReport(report, columnsOf(stdout, 100), paintFor(stdout, env));
  return printResult(world, text, report.exitCode);
}

type Report = ReturnType<typeof createReport>;

/**
 * The findings about a ledger, and where they were made. Has neither host nor token: people paste it into bug reports.
 *
 * @internal
 */
export function createReport(ledger: string, findings: readonly Finding[]) {
  const url = new URL(ledger);
  return {
    about: {
      'canton-rx': version(),
      node: process.versions.node,
      platform: `${process.platform} ${process.arch}`,
      at: new Date().toISOString(),
    },
    ledger: {
      scheme: url.protocol.replace(':', ''),
      port: portOf(url),
      isThisMachine: isThisMachine(url.hostname),
      hasPathPrefix: url.pathname !== '/',
    },
    exitCode: exitCodeOf(findings),
    findings,
  };
}

/**
 * Formats a report as text of at most `columns` columns.
 *
 * @internal
 */
export function formatReport({ about, ledger, findings, exitCode }: Report, columns: number, paint: Paint): string {
  const address = [
    ledger.scheme,
    `port ${ledger.port}`,
    ledger.isThisMachine ? 'this machine' : 'another host',
    ...(ledger.hasPathPrefix ? ['with a path prefix'] : []),
  ];
  const { node, platform, at } = about;
  return [
    paint('dim', `canton-rx ${about['canton-rx']}, Node.js ${node}, ${platform}, ${at}`),
    paint('dim', `ledger: ${address.join(', ')}`),
    '',
    ...formatFindings(joinUnchecked(findings), columns, paint),
    '',
    summary(findings, exitCode, paint),
    '',
  ].join('\n');
}

/** Joins what could not be checked without an accepted token into one finding: the check of the token has the reason. */
function joinUnchecked(findings: readonly Finding[]): readonly Finding[] {
  const [unchecked, checked] = [true, false].map((wanted) =>
    findings.filter(({ text }) => (text === needsToken) === wanted),
  );
  if (checked === undefined || unchecked === undefined || unchecked.length < 2) return findings;
  const text = `${unchecked.map(({ label }) => label).join(', ')}: they require an accepted token`;
  return [...checked, { id: 'unchecked', label: 'not checked', state: 'open', text }];
}

function summary(findings: readonly Finding[], exitCode: number, paint: Paint): string {
  const count = (wanted: Finding['state']): number => findings.filter(({ state }) => state === wanted).length;
  const [failed, warned] = [count('failed'), count('warned')];
  if (failed === 0 && warned === 0) return paint('green', 'no problems');
  if (failed === 0) return paint('yellow', `no failures, ${warned} ${warned === 1 ? 'warning' : 'warnings'}`);
  return paint('red', `${failed} of ${findings.length} checks failed (exit code ${exitCode})`);
}

/** All findings, in the order of the report. */
export function runChecks(
  connection: Connection,
  parties: Names['parties'],
  env: World['env'],
): Observable<readonly Finding[]> {
  const target: Probe = { connection, parties, env };
  return reach(target).pipe(
    concatMap(({ basics, reachable }) =>
      // without a ledger there is nothing more to check
      reachable.state === 'ok'
        ? runOtherChecks(target, basics).pipe(map((others) => [reachable, ...others]))
        : of([reachable, ...checkProxy(target), ...checkEncryption(target)]),
    ),
  );
}

/** Sends the first requests, and checks whether a ledger answers them. */
const reach = (target: Probe) =>
  requestBasics(target).pipe(
    concatMap((basics) => checkReachable(target, basics).pipe(map((reachable) => ({ basics, reachable })))),
  );

function runOtherChecks(target: Probe, basics: Basics): Observable<readonly Finding[]> {
  const updates$ = checkUpdates(target, basics).pipe(
    switchMap(({ finding, path }) =>
      toFindings('pageLimit', checkPageLimit(target, basics, path)).pipe(map((pageLimit) => [finding, ...pageLimit])),
    ),
  );
  const beforeRoundTrip$ = forkJoin([
    toFindings('version', checkVersion(target, basics)),
    toFindings('token', checkToken(target, basics)),
    of([...checkProxy(target), ...checkEncryption(target), checkClock(basics)]),
  ]);
  const afterRoundTrip$ = forkJoin([
    toFindings('participant', checkParticipant(target, basics)),
    toFindings('party', checkParties(target)),
    of(checkOffsets(basics)),
    toFindings('synchronizers', checkSynchronizers(target, basics)),
    toFindings('updates', updates$, 2 * timeoutMs),
    toFindings('endpoints', checkEndpoints(target)),
    toFindings('webSocket', checkWebSocket(target.connection)),
  ]);
  return forkJoin([beforeRoundTrip$, afterRoundTrip$]).pipe(
    concatMap(([before, after]) =>
      // requested after the others, so that they do not slow it down
      toFindings('roundTrip', checkRoundTrip(target, basics)).pipe(
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
        findings('party').failed({
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
  finding$: Observable<Finding | readonly Finding[]>,
  withinMs = timeoutMs,
): Observable<readonly Finding[]> =>
  finding$.pipe(
    timeout({ each: withinMs, with: () => throwError(() => new RequestTimeoutError('', withinMs)) }),
    map((results) => [results].flat()),
    catchError((error: unknown) => of([findings(id).failed(troubleOfError(error))])),
  );
