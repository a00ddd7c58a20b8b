import process from 'node:process';
import { type Paint, wrapped } from '../terminal.js';
import { version } from '../World.js';
import type { Finding, TroubleKind } from './Finding.js';

/** Whether a URL's host is this machine itself, so that nothing leaves it. */
export const isThisMachine = (hostname: string): boolean =>
  /^(?:(?:[^.]+\.)*localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);

/** What is told of a ledger. No host, no token: people paste it into bug reports. */
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

/** From what keeps all else from being found out, to what does not. */
const codes: readonly (readonly [TroubleKind, number])[] = [
  ['unreachable', 3],
  ['foreign', 4],
  ['token', 5],
  ['other', 1],
];

/** The findings with what whoever reads them elsewhere has to know. */
export function reportOf(ledger: string, findings: readonly Finding[]): Report {
  const { protocol, hostname, port, pathname } = new URL(ledger);
  const [, exitCode = 0] = codes.find(([kind]) => findings.some(({ trouble }) => trouble === kind)) ?? [];
  const scheme = protocol.replace(':', '');
  const usual = scheme === 'https' ? 443 : 80;
  return {
    about: {
      'canton-rx': version(),
      node: process.versions.node,
      platform: `${process.platform} ${process.arch}`,
      at: new Date().toISOString(),
    },
    ledger: {
      scheme,
      port: port === '' ? usual : Number(port),
      isThisMachine: isThisMachine(hostname),
      hasPathPrefix: pathname !== '/',
    },
    exitCode,
    findings,
  };
}

const marks = {
  ok: ['✓', 'green'],
  failed: ['✗', 'red'],
  warned: ['!', 'yellow'],
  open: ['–', 'dim'],
} as const;

/** The report as people read it, no wider than so many columns: each finding, and below it what to do next. */
export function reportText({ about, ledger, findings, exitCode }: Report, columns: number, paint: Paint): string {
  const width = Math.max(...findings.map(({ label }) => label.length));
  const indent = width + 4;
  const room = Math.max(20, columns - indent);
  const linesOf = ({ state, label, text, next }: Finding): readonly string[] => {
    const [mark, colour] = marks[state];
    const shown = wrapped(text, room).map((line) => (state === 'open' ? paint('dim', line) : line));
    const advice = next === undefined ? [] : wrapped(`→ ${next}`, room).map((line) => paint('yellow', line));
    const [first = '', ...more] = [...shown, ...advice];
    return [
      `${paint(colour, mark)} ${label.padEnd(width)}  ${first}`,
      ...more.map((line) => `${' '.repeat(indent)}${line}`),
    ];
  };
  const place = [
    ledger.scheme,
    `port ${ledger.port}`,
    ledger.isThisMachine ? 'this machine' : 'another host',
    ...(ledger.hasPathPrefix ? ['below a path prefix'] : []),
  ];
  const { node, platform, at } = about;
  return [
    paint('dim', `canton-rx ${about['canton-rx']}, Node.js ${node}, ${platform}, ${at}`),
    paint('dim', `ledger: ${place.join(', ')}`),
    '',
    ...findings.flatMap(linesOf),
    '',
    verdict(findings, exitCode, paint),
    '',
  ].join('\n');
}

function verdict(findings: readonly Finding[], exitCode: number, paint: Paint): string {
  const count = (wanted: Finding['state']): number => findings.filter(({ state }) => state === wanted).length;
  const [failed, warned] = [count('failed'), count('warned')];
  if (failed === 0 && warned === 0) return paint('green', 'all well');
  if (failed === 0) return paint('yellow', `all well, with ${warned} ${warned === 1 ? 'warning' : 'warnings'}`);
  return paint('red', `${failed} of ${findings.length} not well (exit code ${exitCode})`);
}
