import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { lines } from './lines/index.js';
import { endChildrenAtExit } from './processes.js';
import { profiles } from './profile.js';
import { type Effort, isMet, type Line, median, type Row, table } from './report.js';

/**
 * Measures the library against alternatives, side by side, as ratios.
 * `npm run bench`, `npm run bench -- decode live`, `npm run bench -- --quick`, `npm run bench -- peers`;
 * `npm run bench -- profile` shows where the time goes.
 */
const cache = join(import.meta.dirname, '..', '..', '..');
// the compiled files are ES modules, as the package is
writeFileSync(join(cache, 'package.json'), '{"type":"module"}\n');
endChildrenAtExit();

async function bench({ lines: chosen, effort, out }: Options): Promise<void> {
  const startedAt = new Date();
  const rows: Row[] = [];
  for (const line of chosen) {
    process.stderr.write(`${line.about} ...\n`);
    try {
      rows.push(...(await line.measure(effort)));
    } catch (error) {
      rows.push({ id: line.id, figure: line.about, ratios: [], note: String(error) });
      process.exitCode = 1;
    }
  }

  const result = {
    startedAt: startedAt.toISOString(),
    tookSeconds: Math.round((Date.now() - startedAt.getTime()) / 1_000),
    node: process.version,
    processors: cpus().length,
    effort,
    rows: rows.map((row) => ({ ...row, median: median(row.ratios), isMet: isMet(row) })),
  };
  writeFileSync(resolve(out), `${JSON.stringify(result, null, 2)}\n`);
  process.stdout.write(`${table(rows)}\n\nwritten to ${resolve(out)}\n`);
}

const args = process.argv.slice(2);
try {
  if (args[0] === 'profile') await profiles((text) => process.stdout.write(`${text}\n`));
  else await bench(parseOptions(args, lines, join(cache, 'result.json')));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}

/** The command's options. */
interface Options {
  readonly lines: readonly Line[];
  readonly effort: Effort;
  readonly out: string;
}

/** Reads the command's arguments: the names of lines, `--quick`, `--sets N`, `--out FILE`. */
function parseOptions(args: readonly string[], known: readonly Line[], out: string): Options {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { quick: { type: 'boolean' }, sets: { type: 'string' }, out: { type: 'string' } },
  });
  const unknown = positionals.filter((name) => !known.some(({ id }) => id === name));
  if (unknown.length > 0)
    throw new Error(`no such line: ${unknown.join(', ')}; there are ${known.map(({ id }) => id).join(', ')}`);
  const isQuick = values.quick === true;
  const lines = known.filter(({ id, isOnDemand = false }) =>
    positionals.length === 0 ? !isOnDemand : positionals.includes(id),
  );
  const sets = Number(values.sets ?? (isQuick ? 2 : 5));
  return { lines, effort: { sets, scale: isQuick ? 0.5 : 1 }, out: values.out ?? out };
}
