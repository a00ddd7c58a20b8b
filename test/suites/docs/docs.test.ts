import { existsSync } from 'node:fs';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll, describe, expect, it } from '@jest/globals';
import { startSandbox } from '../../../src/sandbox/index.js';
import { compiled } from './compiled.js';
import { examplesIn } from './examplesIn.js';

const root = join(import.meta.dirname, '..', '..', '..');
if (!existsSync(join(root, 'dist', 'index.js'))) throw new Error('the examples run against dist: npm run build first');

/** What the examples call the ledger's address; they are run against a sandbox in its place. */
const address = 'http://127.0.0.1:7575';
const sandbox = await startSandbox();
sandbox.generate(300);
const examples = compiled(
  examplesIn(root).map(({ name, code }) => ({ name, code: code.replaceAll(address, sandbox.url) })),
  root,
);
/** Programs that go on until they are ended are run by tests of their own. */
const running = examples.filter(({ code }) => !code.startsWith('// service.ts'));

afterAll(() => sandbox.close());

/** What an example prints; it must end by itself and print nothing to stderr. */
const run = (file: string): Promise<string> =>
  new Promise((resolve, reject) => {
    execFile(process.execPath, [file], { timeout: 100_000 }, (error, stdout, stderr) => {
      if (error === null && stderr === '') resolve(stdout);
      else reject(new Error(`${error?.killed === true ? 'does not end' : 'fails'}\n${stdout}${stderr}`));
    });
  });

describe('examples', () => {
  it('are found', () => {
    expect(examples.length).toBeGreaterThan(30);
  });

  it.each(examples)('$name compiles', ({ complaints }) => {
    expect(complaints).toEqual([]);
  });

  it.concurrent.each(running)('$name runs, and prints what it says', async ({ file, code }) => {
    const printed = await run(file);
    const said = [...code.matchAll(/\/\/ => (.*)$/gm)].map(([, text]) => text);
    if (said.length > 0) expect(printed.trim().split('\n')).toEqual(said);
  });
});
