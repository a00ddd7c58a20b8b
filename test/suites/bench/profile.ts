import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { groupOf, selfTimes, type CpuProfile } from './CpuProfile.js';
import { run, type Job } from './run.js';
import { columns } from './table.js';

/** Where a process that only waits spends its time. */
const isRest = (name: string): boolean => name.includes('(idle)');

function shown(times: readonly (readonly [string, number])[], most: number): string {
  const busy = times.filter(([name]) => !isRest(name));
  const all = busy.reduce((sum, [, ms]) => sum + ms, 0);
  return columns(
    busy.slice(0, most).map(([name, ms]) => [`${((ms / all) * 100).toFixed(1)} %`, `${ms.toFixed(0)} ms`, name]),
  );
}

/** Runs a variant under the profiler: its self times by part and by function. */
export async function profiled(title: string, job: Job): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), 'bench-profile-'));
  await run(job, ['--cpu-prof', '--cpu-prof-interval=500', `--cpu-prof-dir=${dir}`]);
  const [file = ''] = readdirSync(dir);
  const profile = JSON.parse(readFileSync(join(dir, file), 'utf8')) as CpuProfile;
  const parts = shown(selfTimes(profile, groupOf), 30);
  const functions = shown(
    selfTimes(profile, (name, url) => `${name || '(anonymous)'} ${url.split('/').slice(-2).join('/')}`),
    25,
  );
  return `${title}, self time by part\n${parts}\n\n${title}, by function\n${functions}\n\n${join(dir, file)}\n`;
}
