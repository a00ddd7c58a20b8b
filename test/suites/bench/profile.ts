import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { plainLoad } from './Load.js';
import { type Job, run } from './processes.js';
import { columns } from './report.js';
import { withServer } from './withServer.js';

/** Shows where the library spends its time: catching up, following, and while nothing happens. */
export async function profiles(print: (text: string) => void): Promise<void> {
  const count = 200_000;
  await withServer({ kind: 'tx', count, step: 1, roundTripMs: 5 }, async ({ url }) => {
    print(await profile('catching up at 5 ms', { variant: 'feed', load: { ...plainLoad, url, count } }));
    const load = { ...plainLoad, url, count, port: 'undici' as const };
    print(await profile('catching up at 5 ms over undici', { variant: 'feed', load }));
  });
  await withServer({ kind: 'tx', count: 0, step: 1, roundTripMs: 20 }, async ({ url, append }) => {
    const live = 300;
    const running = profile('following', { variant: 'liveFeed', load: { ...plainLoad, url, count: live } });
    await setTimeout(1_500);
    append(live, 20);
    print(await running);
  });
  await withServer({ kind: 'tx', count: 0, step: 1, roundTripMs: 1 }, async ({ url }) => {
    print(await profile('100 idle feeds', { variant: 'idleFeeds', load: { ...plainLoad, url, count: 100 } }));
  });
}

/** Whether a process waits. */
const isIdle = (name: string): boolean => name.includes('(idle)');

function formatTimes(times: readonly (readonly [string, number])[], most: number): string {
  const busy = times.filter(([name]) => !isIdle(name));
  const all = busy.reduce((sum, [, ms]) => sum + ms, 0);
  return columns(
    busy.slice(0, most).map(([name, ms]) => [`${((ms / all) * 100).toFixed(1)} %`, `${ms.toFixed(0)} ms`, name]),
  );
}

/** Runs a variant under the profiler, and formats its self times by part and by function. */
async function profile(title: string, job: Job): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), 'bench-profile-'));
  await run(job, ['--cpu-prof', '--cpu-prof-interval=500', `--cpu-prof-dir=${dir}`]);
  const [file = ''] = readdirSync(dir);
  const cpuProfile = JSON.parse(readFileSync(join(dir, file), 'utf8')) as CpuProfile;
  const parts = formatTimes(selfTimes(cpuProfile, groupOf), 30);
  const functions = formatTimes(
    selfTimes(cpuProfile, (name, url) => `${name || '(anonymous)'} ${url.split('/').slice(-2).join('/')}`),
    25,
  );
  return `${title}, self time by part\n${parts}\n\n${title}, by function\n${functions}\n\n${join(dir, file)}\n`;
}

/** The part of a `--cpu-prof` file that is read here. */
interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string };
  }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

/** Milliseconds by name, the longest first. */
function selfTimes(
  { nodes, samples, timeDeltas }: CpuProfile,
  nameOf: (functionName: string, url: string) => string,
): readonly (readonly [string, number])[] {
  const names = new Map(nodes.map(({ id, callFrame }) => [id, nameOf(callFrame.functionName, callFrame.url)]));
  const times = new Map<string, number>();
  samples.forEach((id, i) => {
    const name = names.get(id) ?? '';
    times.set(name, (times.get(name) ?? 0) + (timeDeltas[i] ?? 0) / 1_000);
  });
  return [...times].sort(([, a], [, b]) => b - a);
}

const internals: readonly (readonly [RegExp, string])[] = [
  [/\/bench\/src\/([\w-]+)\//, 'canton-rx'],
  [/\/bench\/test\/suites\/bench\//, 'the benchmark'],
  [/\/node_modules\/(@[^/]+\/[^/]+|[^/]+)\//, ''],
  [/^node:internal\/deps\/undici/, 'node: fetch (undici)'],
  [/^node:internal\/webstreams|^node:internal\/encoding/, 'node: streams and text'],
  [/^node:/, 'node: others'],
];

/** The part of the program that a function belongs to. */
function groupOf(functionName: string, url: string): string {
  // the engine attributes its own functions to their caller
  if (functionName === 'parseResponse') return 'JSON.parse';
  for (const [pattern, name] of internals) {
    const found = pattern.exec(url);
    if (found === null) continue;
    const [, part = ''] = found;
    return [name, part].filter(Boolean).join(' ');
  }
  return `engine: ${functionName}`;
}
