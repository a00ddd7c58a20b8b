import process from 'node:process';
import { concatMap, defer, map, type Observable } from 'rxjs';
import { parseOptions } from '../arguments.js';
import { connectionOptions, isThisMachine, portOf, readConnection, withLog } from '../Connection.js';
import { version } from '../help.js';
import { runToEnd, unwritableMessage, writeAll } from '../output.js';
import { readParties } from '../Selection.js';
import { columnsOf, type Paint, paintFor, statusLine } from '../terminal.js';
import { escapeJsonLine } from '../text.js';
import type { World } from '../World.js';
import { exitCodeOf, type Finding, formatFindings, needsToken } from './Finding.js';
import { runChecks } from './runChecks.js';

/** `canton-rx check`; emits the exit code, once. */
export function checkCommand(args: readonly string[], world: World): Observable<number> {
  const { env, stdout, stderr } = world;
  const { parties, isJson, ...connection } = readCheckOptions(args, env);
  const status = statusLine(stderr, paintFor(stderr, env));
  return defer(() => {
    status.show((paint) => paint('dim', 'checking the ledger …'));
    return runChecks(withLog(connection, { stderr }), parties, env);
  }).pipe(
    concatMap((findings) => {
      status.clear();
      const report = createReport(connection.ledger, findings);
      const text = isJson
        ? escapeJsonLine(`${JSON.stringify(report)}\n`)
        : formatReport(report, columnsOf(stdout, 100), paintFor(stdout, env));
      return runToEnd(world, writeAll(stdout, [text])).pipe(
        map((outcome) => {
          if (outcome.kind !== 'unwritable') return report.exitCode;
          stderr.write(unwritableMessage(outcome.error));
          return 1;
        }),
      );
    }),
  );
}

/** The ledger to check, the parties to read as, and whether the report is for programs. */
function readCheckOptions(args: readonly string[], env: World['env']) {
  const values = parseOptions(args, {
    ...connectionOptions,
    party: { type: 'string', multiple: true },
    json: { type: 'boolean' },
  });
  const connection = readConnection(values, env);
  return {
    ...connection,
    parties: readParties(values.party ?? connection.contextParties),
    isJson: values.json ?? false,
  };
}

/** The findings and where they were made. Has neither host nor token: people paste it into bug reports. */
interface Report {
  readonly about: {
    readonly 'canton-rx': string;
    readonly node: string;
    readonly platform: string;
    readonly at: string;
  };
  readonly ledger: {
    readonly scheme: string;
    readonly port: number;
    readonly isThisMachine: boolean;
    readonly hasPathPrefix: boolean;
  };
  readonly exitCode: number;
  readonly findings: readonly Finding[];
}

/**
 * The report of findings about a ledger.
 *
 * @internal
 */
export function createReport(ledger: string, findings: readonly Finding[]): Report {
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
