import process from 'node:process';
import { isThisMachine, portOf } from '../Connection.js';
import type { Paint } from '../terminal.js';
import { wrap } from '../text.js';
import { version } from '../help.js';
import { type Finding, needsToken, type TroubleKind } from './Finding.js';

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

/** The exit codes in order of precedence: a failure hides those after it. */
const exitCodes: readonly (readonly [TroubleKind, number])[] = [
  ['unreachable', 3],
  ['foreign', 4],
  ['token', 5],
  ['other', 1],
];

/** The exit code of a command whose checks have these findings; 0 if none failed. */
export const exitCodeOf = (findings: readonly Finding[]): number =>
  exitCodes.find(([kind]) => findings.some(({ trouble }) => trouble === kind))?.[1] ?? 0;

/** The report of findings about a ledger. */
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

const marks = {
  ok: ['✓', 'green'],
  failed: ['✗', 'red'],
  warned: ['!', 'yellow'],
  open: ['–', 'dim'],
} as const;

/** Formats findings as text of at most `columns` columns, each followed by its next step. */
export function formatFindings(findings: readonly Finding[], columns: number, paint: Paint): readonly string[] {
  const width = Math.max(...findings.map(({ label }) => label.length));
  const indent = width + 4;
  const room = Math.max(20, columns - indent);
  return findings.flatMap(({ state, label, text, next }) => {
    const [mark, colour] = marks[state];
    const result = wrap(text, room).map((line) => (state === 'open' ? paint('dim', line) : line));
    const advice = next === undefined ? [] : wrap(`→ ${next}`, room).map((line) => paint('yellow', line));
    const [first = '', ...more] = [...result, ...advice];
    return [
      `${paint(colour, mark)} ${label.padEnd(width)}  ${first}`,
      ...more.map((line) => `${' '.repeat(indent)}${line}`),
    ];
  });
}

/** Formats a report as text of at most `columns` columns. */
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
