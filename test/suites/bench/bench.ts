import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { endChildrenAtExit } from './child.js';
import type { Row } from './Line.js';
import { lines } from './lines/index.js';
import { optionsOf, type Options } from './options.js';
import { profiles } from './profiles.js';
import { isMet, median } from './ratios.js';
import { table } from './table.js';

/**
 * How fast the library is, as ratios of what is measured side by side.
 * `npm run bench`, `npm run bench -- decode live`, `npm run bench -- --quick`, `npm run bench -- peers`;
 * `npm run bench -- profile` says where the time goes.
 */
const cache = join(import.meta.dirname, '..', '..', '..');
// what is compiled there is as the package itself is
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
  else await bench(optionsOf(args, lines, join(cache, 'result.json')));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
