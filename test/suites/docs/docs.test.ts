import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, it } from '@jest/globals';
import { startSandbox } from '../../../src/sandbox/index.js';
import { compileExamples, findExamples } from './examples.js';

const root = join(import.meta.dirname, '..', '..', '..');
if (!existsSync(join(root, 'dist', 'index.js'))) throw new Error('the examples run against dist: npm run build first');

/** The ledger's address in the examples, which is replaced by a sandbox's. */
const address = 'http://127.0.0.1:7575';
const sandbox = await startSandbox();
sandbox.generate(300);
const examples = compileExamples(
  findExamples(root).map(({ name, code }) => ({
    name,
    code: code.replaceAll(address, sandbox.url).replace('port: 8081', 'port: 0'),
  })),
  root,
);
/** Services, which do not end, or need a database, and have tests of their own. */
const isService = (code: string): boolean =>
  /^\/\/ (service\.mts|all\.mts|contracts-server\.mts|project\.mts|desk\.mts|receipts\.mts)\n/.test(code);
/** Examples that end by themselves. */
const programs = examples.filter(({ code }) => !isService(code) && !code.includes('// Ctrl-C'));
/** Those of them that print. */
const printing = programs.filter(({ code }) => code.includes('console.'));
const silent = programs.filter((program) => !printing.includes(program));
/** Examples without an end. */
const endless = examples.filter(({ code }) => code.includes('// Ctrl-C') && !isService(code));

afterAll(() => sandbox.close());

/** `@daml/types` writes a line for every template that is imported. */
const quiet = ['--import', 'data:text/javascript,console.debug=()=>undefined'];

/** What a busy machine makes of an example that logs its diagnostics. */
const delayed = /^.*no response from \S+ for [\d.]+ s, still waiting\n/gm;

/** Runs an example, which must end by itself without output on stderr, and returns its output. */
const run = (file: string): Promise<string> =>
  new Promise((resolve, reject) => {
    execFile(process.execPath, [...quiet, file], { timeout: 100_000 }, (error, stdout, stderr) => {
      if (error === null && stderr.replace(delayed, '') === '') resolve(stdout);
      else reject(new Error(`${error?.killed === true ? 'does not end' : 'fails'}\n${stdout}${stderr}`));
    });
  });

/** Writes a program that runs others, one after another: most of the time of a short one is that of its imports. */
function together(programs: readonly { readonly file: string }[]): string {
  const lines = programs.map(({ file }) => `await import(${JSON.stringify(pathToFileURL(file))});`);
  const file = join(dirname(programs[0]?.file ?? ''), 'together.js');
  writeFileSync(file, [...lines, 'console.log("end");'].join('\n'));
  return file;
}

/** Runs an example without an end until it prints something, and returns that. */
async function runUntilOutput(file: string): Promise<string> {
  const program = spawn(process.execPath, [...quiet, file], { timeout: 100_000, cwd: dirname(file) });
  let stderr = '';
  program.stderr.on('data', (chunk) => (stderr += String(chunk)));
  const ended = once(program, 'close').then(() => Promise.reject(new Error(`ends\n${stderr}`)));
  try {
    const printed = await Promise.race([once(program.stdout, 'data'), ended]);
    return `${String(printed[0])}${stderr}`;
  } finally {
    ended.catch(() => undefined);
    program.kill();
    if (program.exitCode === null) await once(program, 'close');
  }
}

describe('examples', () => {
  it('are found', () => {
    expect(examples.length).toBeGreaterThan(30);
  });

  it.each(examples)('$name compiles', ({ errors }) => {
    expect(errors).toEqual([]);
  });

  it.concurrent.each(printing)('$name runs, and prints what its comments say', async ({ file, code }) => {
    const printed = await run(file);
    const expected = [...code.matchAll(/\/\/ => (.*)$/gm)].map(([, text]) => text);
    if (expected.length > 0) expect(printed.trim().split('\n')).toEqual(expected);
  });

  it('run, and print nothing if they write nothing to the console', async () => {
    const printed = await run(together(silent)).catch(() => undefined);
    // to find which
    if (printed !== 'end\n') for (const { file } of silent) expect([file, await run(file)]).toEqual([file, '']);
    expect(printed).toBe('end\n');
  });

  it.concurrent.each(endless)('$name runs until it is stopped', async ({ file }) => {
    expect(await runUntilOutput(file)).toMatch(
      /^(\d+ (tasks|contracts)|the service listens on .*|canton-rx: processor tasks: starting: .*)\n/,
    );
  });
});
