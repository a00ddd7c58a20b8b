import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { cantonError } from '../../src/sandbox/index.js';
import { httpServer } from '../helpers/localServers.js';
import { until } from '../helpers/time.js';
import { cliWorld } from './cliWorld.js';
import { evil, poison, technicalOfSubmissions, unprintable } from './evil.js';
import { capture, type CaptureOptions, parseLines, runCli } from './runCli.js';

const world = cliWorld();

const poisonAll = (text = evil, path = /./, isLeft?: RegExp): void => {
  world.sandbox.fault({ kind: 'rewrite', body: (answer) => poison(answer, text, isLeft) }, { path, times: 10_000 });
};

const alice = (): string => world.sandbox.hostedParty('alice');
const template = '#sandbox-assets:Main:Asset';
const submitLine = (...options: readonly string[]): readonly string[] => [
  ...['submit', '--act-as', alice(), '--user-id', 'me', '--template', template],
  ...['--argument', JSON.stringify({ owner: alice(), amount: '1.0', serial: '1' }), ...options],
];

/** Runs a command line on the sandbox to its end. */
async function run(line: readonly string[], options: CaptureOptions = {}, env: Readonly<Record<string, string>> = {}) {
  const [out, err] = [capture(options), capture({})];
  const [command = '', ...others] = line;
  const started = runCli([command, ...others], { out, err, env: { CANTON_RX_LEDGER_URL: world.sandbox.url, ...env } });
  return { code: await started.code, out: out.text(), err: err.text() };
}

/** The command lines of each command that print what a ledger sends. */
const lines: Readonly<Record<string, () => readonly (readonly string[])[]>> = {
  check: () => [['check'], ['check', '--json'], ['check', '--party', 'nobody::1220ab']],
  contracts: () => [
    ['contracts', '--pretty'],
    ['contracts', '--json'],
    ['contracts', '--output', 'csv'],
  ],
  tail: () => [
    ['tail', '--to', '40', '--pretty', '--effects'],
    ['tail', '--to', '40', '--json', '--verbose'],
    ['tail', '--to', '40', '--synchronizer', 'other::1220ab'],
  ],
  replay: () => [['replay', '--to', '40', '--out', join(world.folder, 'updates.ndjson')]],
  submit: () => [submitLine(), submitLine('--json'), submitLine('--dry-run'), submitLine('--dry-run', '--json')],
};

/** The commands that read a database, which have their tests next to it (`project` and `project verify` in `project/`), and those that read no foreign ledger. */
const others = ['project', 'processors', 'parked', 'outbox', 'sandbox', 'completion', 'demo'];

describe('a ledger full of control characters', () => {
  it('is read by each command in a test of this file', async () => {
    const names = /use one of (.*) \(/.exec((await run([])).err)?.[1]?.split(', ');
    expect([...Object.keys(lines), ...others].sort()).toEqual(names?.sort());
  });

  it.each(Object.keys(lines))('prints none of them by %s, on a terminal and in a pipe', async (name) => {
    poisonAll(evil, /./, name === 'submit' ? technicalOfSubmissions : undefined);
    for (const line of lines[name]?.() ?? []) {
      for (const isTTY of [true, false]) {
        const { out, err } = await run(line, { isTTY }, { NO_COLOR: '1' });
        const csv = line.includes('csv') && !isTTY ? out.replace(/\r\n/g, '\n') : out;
        expect(csv.replaceAll('\r\n', '\n')).not.toMatch(unprintable);
        expect(err).not.toMatch(unprintable);
        if (!line.includes('csv')) expect(out + err).not.toMatch(/^canton-rx: ok/m);
      }
    }
  });

  it.each([
    ['tail', ['tail', '--pretty', '--verbose']],
    ['tail --json', ['tail', '--json', '--websocket']],
    ['contracts --follow', ['contracts', '--follow', '--pretty']],
    ['contracts --follow --json', ['contracts', '--follow', '--json']],
  ])('prints none of them by %s, which has no end', async (_, line) => {
    poisonAll();
    const [out, err] = [capture({}), capture({})];
    const env = { CANTON_RX_LEDGER_URL: world.sandbox.url };
    const { code, signals } = runCli(line, { out, err, env });
    await out.lines(100);
    const before = out.text().length;
    world.sandbox.generate(50);
    await until(() => out.text().length > before);
    signals.emit('SIGINT');
    expect(await code).toBe(0);
    expect(out.text() + err.text()).not.toMatch(unprintable);
  });

  it('writes none of them to the file of replay', async () => {
    poisonAll();
    const file = join(world.folder, 'updates.ndjson');
    expect((await run(['replay', '--to', '40', '--out', file])).code).toBe(0);
    expect(readFileSync(file, 'utf8')).not.toMatch(unprintable);
  });

  it.each(['error', 'close'] as const)('prints none of them from the %s of a WebSocket, and goes on', async (how) => {
    const body = { ...cantonError('INVALID_ARGUMENT'), cause: evil, correlationId: evil, context: { [evil]: evil } };
    const fault =
      how === 'error' ? { how, body } : { how, code: 1011, reason: '\u001b[2J\u009b31m\u202e\ncanton-rx: ok' };
    world.sandbox.fault({ kind: 'socket', elements: 2, ...fault }, { path: /updates/ });
    const env = { CANTON_RX_LEDGER_URL: world.sandbox.url };
    const { code, out, err, signals } = runCli(['tail', '--websocket', '--json'], { env });
    await out.lines(100);
    signals.emit('SIGINT');
    expect(await code).toBe(0);
    expect(out.text() + err.text()).not.toMatch(unprintable);
    expect(out.text() + err.text()).not.toMatch(/^canton-rx: ok/m);
  });

  it('prints none of them from headers', async () => {
    const server = await httpServer((_, response) => {
      const text = Buffer.from('\u009b31m\u0085\u202e').toString('latin1');
      const headers = { date: text, server: text, via: text, 'retry-after': text, 'content-type': text };
      response.writeHead(400, { ...headers, 'www-authenticate': text }).end(evil);
    });
    for (const line of Object.values(lines).flatMap((of) => of())) {
      const { out, err } = await run([...line, '--ledger', server.url]);
      expect(out + err).not.toMatch(unprintable);
    }
    await server.close();
  });

  it('has the same values in JSON', async () => {
    poisonAll(evil, /updates/);
    const { code, out } = await run(['tail', '--to', '40', '--json']);
    expect(code).toBe(0);
    const found = parseLines(out).filter(({ commandId }) => String(commandId).endsWith(evil));
    expect(found.length).toBeGreaterThan(10);
  });

  it('prints ordinary text of any language unchanged', async () => {
    const text = ' Zürich – 漢字かな, 한국어, नमस्ते, שלום, مرحبا, e\u0301, ❤️, 😀';
    poisonAll(text, /updates|active-contracts/);
    const [rows, json, csv] = [
      await run(['contracts', '--pretty'], { isTTY: true, columns: 4_000 }, { NO_COLOR: '1' }),
      await run(['contracts', '--json']),
      await run(['contracts', '--output', 'csv']),
    ];
    for (const { out } of [rows, json, csv]) expect(out).toContain(text);
  });

  it.each([
    ['an error of the ledger', { ...cantonError('INVALID_ARGUMENT'), code: `X${evil}`, cause: evil }],
    [
      'details of an error',
      { ...cantonError('INVALID_ARGUMENT'), cause: evil, correlationId: evil, context: { [evil]: evil } },
    ],
    ['a web page', `<html>${evil}</html>`],
    ['another text', evil],
  ])('prints none of them from %s', async (_, body) => {
    for (const status of [400, 403, 404]) {
      world.sandbox.fault({ kind: 'status', status, body }, { path: /./, times: 10_000 });
      for (const line of Object.values(lines).flatMap((of) => of().slice(0, 1))) {
        const { code, out, err } = await run(line);
        expect(line[0] === 'check' || code > 0).toBe(true);
        expect(out + err).not.toMatch(unprintable);
        expect(out + err).not.toMatch(/^canton-rx: ok/m);
      }
    }
  });

  it('prints none of them from a redirect', async () => {
    const server = await httpServer((_, response) => {
      response
        .writeHead(302, { location: Buffer.from(`/\u009b31m\u0085?x`).toString('latin1'), server: '\u009b2J' })
        .end();
    });
    const { code, out, err } = await run(['tail', '--ledger', server.url]);
    await server.close();
    expect(code).toBe(4);
    expect(out + err).not.toMatch(unprintable);
  });
});

describe('arguments full of control characters', () => {
  const hostile = `x${evil.replaceAll('\ud800', '')}`;

  it.each([
    [[hostile]],
    [['tail', `--${hostile}`]],
    [['tail', hostile]],
    [['tail', '--from', hostile]],
    [['tail', '--party', hostile]],
    [['tail', '--template', hostile]],
    [['tail', '--variant', hostile]],
    [['tail', '--context', hostile]],
    [['tail', '--token-file', hostile]],
    [['tail', '--ledger', hostile]],
    [['replay', '--out', `/no/${hostile}/file`]],
    [['submit', '--act-as', 'a::12', '--file', hostile]],
    [['submit', '--act-as', hostile, '--template', hostile]],
    [['project', '--database', hostile]],
    [['project', '--database', 'postgres://x/y', '--schema', hostile]],
    [['processors', hostile]],
    [['sandbox', '--profile', hostile]],
    [['completion', hostile]],
    [['demo', hostile]],
  ])('are refused in one line, case %#', async (line) => {
    const { code, out, err } = await run(line);
    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(/^canton-rx: [^\n]+\n$/);
    expect(err).not.toMatch(unprintable);
  });

  it('name files, which are printed safely', async () => {
    const out = join(world.folder, 'a\u001b[2J\u202eb\n');
    const written = await run(['replay', '--to', '10', '--out', out]);
    expect(written.code).toBe(0);
    writeFileSync(out, 'changed');
    const refused = await run(['replay', '--to', '10', '--out', out]);
    expect(refused.code).toBe(1);
    for (const { err } of [written, refused]) expect(err).not.toMatch(unprintable);
    expect(written.err.split('\n')).toHaveLength(2);
  });
});

describe('megabytes of blanks', () => {
  const blanks = `${' \t\n'.repeat(400_000)}${evil}`;
  /** No line of rows or messages is longer; a quadratic step would take minutes. */
  const maxLine = 25_000;
  const longest = (text: string): number => Math.max(...text.split('\n').map(({ length }) => length));

  it.each(['contracts', 'tail', 'submit'])('are printed in short rows by %s', async (name) => {
    await world.restart({}, 1);
    const long = JSON.stringify(blanks).slice(1, -1);
    const body = (answer: unknown): string =>
      JSON.stringify(answer).replace(/"(packageName|title|amount)":"/g, `"$1":"${long}`);
    world.sandbox.fault({ kind: 'rewrite', body }, { path: /updates|active-contracts|transaction$/, times: 99 });
    const line = {
      contracts: ['contracts', '--pretty'],
      tail: ['tail', '--to', '1', '--pretty'],
      submit: submitLine(),
    }[name];
    const { code, out, err } = await run(line ?? [], { isTTY: true }, { NO_COLOR: '1' });
    expect(code).toBe(0);
    expect(longest(out)).toBeLessThan(maxLine);
    expect(longest(err)).toBeLessThan(maxLine);
  });

  it('are quoted in short messages', async () => {
    const body = { ...cantonError('INVALID_ARGUMENT'), cause: blanks, correlationId: blanks, context: { a: blanks } };
    world.sandbox.fault({ kind: 'status', status: 400, body }, { path: /./, times: 99 });
    for (const line of [['tail'], ['contracts'], submitLine()]) {
      const { err } = await run(line);
      expect(longest(err)).toBeLessThan(maxLine);
    }
  });

  const details = { cause: blanks, correlationId: blanks, context: { a: blanks, [blanks]: blanks } };

  it.each([
    ['INVALID_ARGUMENT', 400, 1],
    ['CONTRACT_NOT_FOUND', 404, 1],
    ['PERMISSION_DENIED', 403, 5],
  ])('do not hide that the ledger refuses a submission: %s', async (code, status, expected) => {
    const body = { ...cantonError(code), ...details };
    world.sandbox.fault({ kind: 'status', status, body }, { path: /commands/, times: 99 });
    const refused = await run(submitLine());
    expect(refused.code).toBe(expected);
    expect(refused.err).toContain('The submission was rejected');
    expect(world.sandbox.requests.filter(({ path }) => path.includes('commands'))).toHaveLength(1);
  });

  it('do not hide that a submission is committed, although its transaction is too large to read', async () => {
    await world.restart({}, 1);
    const body = (answer: unknown): string => JSON.stringify(answer).replace('{', `{${' '.repeat(33 * 2 ** 20)}`);
    world.sandbox.fault({ kind: 'rewrite', body }, { path: /transaction$/ });
    world.sandbox.fault({ kind: 'rewrite', body }, { path: /update-by-offset/, times: 99 });
    const { code, err } = await run(submitLine());
    expect(code).toBe(6);
    expect(err).toContain('The submission was committed, but its transaction could not be read.');
    expect(err).toMatch(/\ndetermine it with the same command and --command-id \S+ --since \d+\n$/);
  });
});
