import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { currentApi } from './migrating/currentApi.js';
import { formerApi, type GuideLedger } from './migrating/formerApi.js';
import { type Block, readGuide, type Side } from './migrating/guide.js';
import { applications, type Applications } from './migrating/project.js';
import { angularMain, reactMain, signerModule } from './migrating/modules.js';

const root = join(import.meta.dirname, '..', '..', '..');
if (!existsSync(join(root, 'dist', 'index.js'))) throw new Error('the examples run against dist: npm run build first');

const guide = readGuide(root);
const sides = ['before', 'now'] as const;
const blocksOf = (side: Side): readonly Block[] => guide.filter((block) => block.side === side);
/** Blocks that are no module of others. */
const programs = guide.filter(({ file }) => file.startsWith('line'));
const key = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign', 'verify']);

/** The address and the party in the guide. */
const [address, alice] = ['http://127.0.0.1:7575', 'alice::1220ab'];

let apps: Applications;
beforeAll(async () => {
  apps = await applications(root);
});
afterAll(() => apps.remove());

/** Whether a file submits for a party with its own key. */
const isSigned = (name: string): boolean =>
  guide.some(({ file, code }) => file === name && code.includes(`from './signer'`));

/** Starts the ledger of a side for a program, with the tasks of the guide. */
async function startLedger(side: Side, main: string): Promise<{ ledger: GuideLedger; party: string }> {
  const now = () => currentApi(isSigned(main) ? key.publicKey : undefined);
  const api: GuideLedger & { readonly party?: string } = side === 'now' ? await now() : await formerApi(alice);
  api.create('Write');
  api.create('Read');
  return { ledger: api, party: api.party ?? alice };
}

/** The files of a side, with a ledger's address and party. */
async function filesOf(side: Side, { url }: GuideLedger, party: string): Promise<Readonly<Record<string, string>>> {
  const blocks = blocksOf(side).map(({ file, code }) => [file, code.replaceAll(address, url).replaceAll(alice, party)]);
  return {
    ...(Object.fromEntries(blocks) as Record<string, string>),
    ...(side === 'now' && { 'signer.ts': await signerModule(party, key) }),
    'main.tsx': reactMain,
    'angular.ts': angularMain(side),
  };
}

/** Collects what a program prints. `onLine` is called with each line. */
async function outputOf(child: ChildProcess, onLine: (line: string) => void): Promise<string[]> {
  const lines: string[] = [];
  let rest = '';
  let errors = '';
  child.stderr?.on('data', (data: Buffer) => (errors += data.toString()));
  child.stdout?.on('data', (data: Buffer) => {
    const parts = (rest + data.toString()).split('\n');
    rest = parts.pop() ?? '';
    lines.push(...parts);
    parts.forEach(onLine);
  });
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0 || errors !== '') throw new Error(`exit ${code ?? 'by a signal'}\n${lines.join('\n')}\n${errors}`);
  return lines;
}

/** `@daml/types` and `@daml/react` write what they do. */
const quiet = ['--import', 'data:text/javascript,console.debug=()=>undefined'];
const start = (file: string): ChildProcess =>
  spawn(process.execPath, [...quiet, file], { stdio: ['ignore', 'pipe', 'pipe'], timeout: 60_000 });

/** Runs a file of a side against a ledger where a task comes and goes as soon as the program shows the first two. */
async function run(side: Side, main: string): Promise<readonly string[]> {
  const { ledger, party } = await startLedger(side, main);
  try {
    const child = start(await apps.bundle(side, await filesOf(side, ledger, party), main));
    let task: string | undefined;
    return await outputOf(child, (line) => {
      if (task === undefined && /^live|^Write, Read$/.test(line)) task = ledger.create('Ship');
      else if (task !== undefined && line.includes('Ship') && !line.startsWith('archived')) ledger.archive(task);
    });
  } finally {
    await ledger.close();
  }
}

describe('the migration guide', () => {
  it.each(sides)('compiles, as it was %s', async (side) => {
    const { ledger, party } = await startLedger(side, 'main.tsx');
    await apps.bundle(side, await filesOf(side, ledger, party), 'main.tsx');
    await ledger.close();
    expect(apps.check(side, blocksOf(side))).toEqual([]);
  });

  it('has programs of both sides', () => {
    expect(sides.map((side) => programs.filter((block) => block.side === side).length)).toEqual([4, 5]);
  });

  it.each(programs)('runs line $line, $side, which prints what its comments say', async ({ side, file, output }) => {
    expect(output).not.toEqual([]);
    expect(await run(side, file)).toEqual(output);
  });

  it.each(sides)('shows the same in React, %s', async (side) => {
    expect(await run(side, 'main.tsx')).toEqual(['Loading', 'Write, Read', 'Write, Read, Ship', 'Write, Read']);
  });

  it.each(sides)('has the same in a service of Angular, %s', async (side) => {
    expect(await run(side, 'angular.ts')).toEqual(['Write, Read', 'Write, Read, Ship', 'Write, Read']);
  });
});
