import type { Paint } from '../text/Paint.js';
import type { Finding } from './Finding.js';
import type { Report } from './Report.js';

const marks = {
  ok: ['✓', 'green'],
  failed: ['✗', 'red'],
  open: ['–', 'dim'],
} as const;

/** The report as people read it: a line for each finding, and below it what to do next. */
export function reportText({ about, ledger, findings, exitCode }: Report, paint: Paint): string {
  const width = Math.max(...findings.map(({ label }) => label.length));
  const lineOf = ({ state, label, text, next }: Finding): readonly string[] => {
    const [mark, colour] = marks[state];
    const padded = label.padEnd(width);
    const line = `${paint(colour, mark)} ${padded}  ${state === 'open' ? paint('dim', text) : text}`;
    return next === undefined ? [line] : [line, `  ${' '.repeat(width)}  ${paint('yellow', `→ ${next}`)}`];
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
    ...findings.flatMap(lineOf),
    '',
    verdict(findings, exitCode, paint),
    '',
  ].join('\n');
}

function verdict(findings: readonly Finding[], exitCode: number, paint: Paint): string {
  const failed = findings.filter(({ state }) => state === 'failed').length;
  if (failed === 0) return paint('green', 'all well');
  return paint('red', `${failed} of ${findings.length} not well (exit code ${exitCode})`);
}
