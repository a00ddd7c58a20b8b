import type { Paint } from '../text/Paint.js';
import { wrapped } from '../text/wrapped.js';
import type { Finding } from './Finding.js';
import type { Report } from './Report.js';

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
