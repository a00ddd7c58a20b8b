import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { filter, firstValueFrom } from 'rxjs';
import { automate } from '../../src/automation/index.js';
import type { AnyContract } from '../../src/contracts/index.js';
import { type Command, create, exercise } from '../../src/index.js';
import { createLedger } from '../../src/ledger/createLedger.js';
import { startSandbox } from '../../src/sandbox/index.js';
import { generatedParties } from '../../src/sandbox/participant/parties.js';
import { Asset } from '../sandbox/templates/market.js';
import { parseLines, runCli } from './runCli.js';

const urlIn = (lines: readonly string[]): string => /^http:\S+/.exec(lines[0] ?? '')?.[0] ?? '';

describe('canton-rx sandbox', () => {
  it('serves a ledger until a signal, and prints commands to read it', async () => {
    const options = ['--updates', '50', '--seed', '7', '--profile', '3.4'];
    const { code, out, err, signals } = runCli(['sandbox', '--port', '0', ...options]);
    const url = urlIn(await out.lines(4));
    const tail = runCli(['tail', '--ledger', url, '--to', '50']);

    expect(await tail.code).toBe(0);
    expect(parseLines(tail.out.text()).length).toBeGreaterThan(10);
    expect(out.text()).toContain(`canton-rx tail --ledger ${url}\n`);
    expect(out.text()).toContain('Canton 3.4');
    signals.emit('SIGTERM');
    expect(await code).toBe(0);
    expect(err.text()).toBe('stopped\n');
    await expect(fetch(`${url}/v2/version`)).rejects.toThrow();
  });

  it('generates updates at a rate', async () => {
    const { code, out, signals } = runCli(['sandbox', '--port', '0', '--rate', '200']);
    const tail = runCli(['tail', '--ledger', urlIn(await out.lines(4))]);
    await tail.out.lines(20);
    tail.signals.emit('SIGINT');
    signals.emit('SIGINT');

    expect(await tail.code).toBe(0);
    expect(await code).toBe(0);
  });

  it.each([
    ['0', 'no traffic'],
    ['1', '1 update per second'],
    ['2', '2 updates per second'],
  ])('prints a rate of %s as "%s"', async (rate, traffic) => {
    const { code, out, signals } = runCli(['sandbox', '--port', '0', '--rate', rate]);
    const [first] = await out.lines(4);
    signals.emit('SIGINT');

    expect(first).toContain(traffic);
    expect(await code).toBe(0);
  });

  it.each(['a variable', '--token-file'])('answers 401 to requests without the token of %s', async (source) => {
    const folder = mkdtempSync(join(tmpdir(), 'canton-rx-'));
    const file = join(folder, 'token');
    writeFileSync(file, 'letmein\n');
    const isFile = source === '--token-file';
    const { code, out, err, signals } = isFile
      ? runCli(['sandbox', '--port', '0', source, file])
      : runCli(['sandbox', '--port', '0'], { env: { CANTON_RX_SANDBOX_TOKEN: 'letmein' } });
    const [first = ''] = await out.lines(4);
    const end = `${urlIn([first])}/v2/state/ledger-end`;
    const statusWith = async (token: string): Promise<number> =>
      (await fetch(end, { headers: { authorization: `Bearer ${token}` } })).status;

    expect(first).toContain('a token is required');
    expect(out.text()).toContain(
      isFile ? ` --token-file ${file}\n` : 'export CANTON_RX_LEDGER_TOKEN="$CANTON_RX_SANDBOX_TOKEN"\n',
    );
    expect([(await fetch(end)).status, await statusWith('other'), await statusWith('letmein')]).toStrictEqual([
      401, 401, 200,
    ]);
    signals.emit('SIGINT');
    expect(await code).toBe(0);
    expect(out.text() + err.text()).not.toContain('letmein');
    rmSync(folder, { recursive: true });
  });

  it.each([['--token', 'letmein'], ['--token=letmein']])('takes no token from its arguments: %s', async (...args) => {
    const { code, out, err } = runCli(['sandbox', '--port', '0', ...args]);
    expect(await code).toBe(2);
    expect(err.text()).toContain('use --token-file or CANTON_RX_SANDBOX_TOKEN');
    expect(out.text() + err.text()).not.toContain('letmein');
  });

  it.each([
    [[], [403, 403]],
    [['--cors'], [200, 403]],
    [
      ['--allow-origin', 'https://app.example', '--allow-origin', 'http://localhost:5173'],
      [200, 200],
    ],
  ] as const)(
    'serves web pages of http://localhost:5173 and https://app.example with %j: %j',
    async (args, statuses) => {
      const { code, out, signals } = runCli(['sandbox', '--port', '0', ...args]);
      const end = `${urlIn(await out.lines(4))}/v2/state/ledger-end`;
      const origins = ['http://localhost:5173', 'https://app.example'];
      const answers = await Promise.all(origins.map((origin) => fetch(end, { headers: { origin } })));
      expect(answers.map(({ status }) => status)).toStrictEqual(statuses);
      signals.emit('SIGINT');
      expect(await code).toBe(0);
    },
  );

  it.each([
    [['--allow-origin', 'localhost:5173'], 'must be an origin'],
    [['--allow-origin', 'http://localhost:5173/app'], 'must be an origin'],
    [['--cors', '--allow-origin', 'http://localhost:5173'], 'exclude each other'],
  ])('rejects %j', async (args, message) => {
    const { code, err } = runCli(['sandbox', '--port', '0', ...args]);
    expect(await code).toBe(2);
    expect(err.text()).toContain(message);
  });

  it('is another participant at each start, unless --participant-id fixes it', async () => {
    const fixed = ['--participant-id', 'mine::1220ab'];
    const ids = await Promise.all(
      [[], [], fixed].map(async (args) => {
        const { code, out, signals } = runCli(['sandbox', '--port', '0', ...args]);
        const response = await fetch(`${urlIn(await out.lines(4))}/v2/parties/participant-id`);
        const { participantId } = (await response.json()) as { readonly participantId: string };
        signals.emit('SIGINT');
        expect(await code).toBe(0);
        return participantId;
      }),
    );
    expect(new Set(ids).size).toBe(3);
    expect(ids[2]).toBe('mine::1220ab');
    const { code, err } = runCli(['sandbox', '--port', '0', '--participant-id', 'mine']);
    expect(await code).toBe(2);
    expect(err.text()).toContain('NAME::FINGERPRINT');
  });

  it('lets other transactions win some races with --contend', async () => {
    const { code, out, signals } = runCli(['sandbox', '--port', '0', '--updates', '1000', '--contend']);
    const [first = ''] = await out.lines(4);
    expect(first).toContain('races for contracts');
    const ledger = createLedger({ baseUrl: urlIn([first]) });
    const party = /--party (\S+)/.exec(out.text())?.[1] ?? '';
    const act = ({ templateId, contractId }: AnyContract) => ({
      ExerciseCommand: { templateId, contractId, choice: 'Archive', choiceArgument: {} },
    });
    const rule = { name: 'archive', query: { parties: [party] }, actAs: [party], userId: 'me', act };
    const where = ({ signatories }: AnyContract): boolean => signatories.every((signatory) => signatory === party);
    await firstValueFrom(automate(ledger, { ...rule, where }).pipe(filter(({ _tag }) => _tag === 'Obsolete')));
    signals.emit('SIGINT');

    expect(await code).toBe(0);
  });

  it('runs the contracts of the templates in a module', async () => {
    const file = 'test/sandbox/templates/market.ts';
    const { code, out, signals } = runCli(['sandbox', '--port', '0', '--templates', file]);
    const url = urlIn(await out.lines(4));
    const [issuer = '', owner = ''] = [...generatedParties];
    const ledger = createLedger({ baseUrl: url });
    const submitted = (actAs: string, command: Command) =>
      firstValueFrom(ledger.submitAndWaitForTransaction({ userId: 'me', actAs: [actAs], commands: [command] }));
    const { events } = await submitted(issuer, create(Asset, { issuer, owner, amount: '1.0', serial: '1' }));
    const [created] = events;
    if (created?._tag !== 'CreatedEvent') throw new Error('no contract');
    await submitted(owner, exercise(Asset.Transfer, created.contractId, { newOwner: issuer }));
    signals.emit('SIGINT');

    expect(await code).toBe(0);
    expect(out.text()).toContain('2 templates');
  });

  it.each([
    ['missing.mjs', undefined, 'missing.mjs'],
    ['no-list.mjs', 'export default 1;', 'must be a list of what template() returns'],
    ['no-templates.mjs', 'export const templates = [{ templateId: 1 }];', 'must be a list of what template() returns'],
    ['throws.mjs', "throw new Error('as planned');", 'as planned'],
  ])('reports a module without templates: %s', async (name, text, message) => {
    const folder = mkdtempSync(join(tmpdir(), 'canton-rx-'));
    const file = join(folder, name);
    if (text !== undefined) writeFileSync(file, text);
    const { code, err } = runCli(['sandbox', '--port', '0', '--templates', file]);
    expect(await code).toBe(1);
    expect(err.text()).toContain(message);
    expect(err.text()).toContain(name);
    rmSync(folder, { recursive: true });
  });

  it('reports a port that is in use', async () => {
    const other = await startSandbox();
    const { port } = new URL(other.url);
    const { code, err } = runCli(['sandbox', '--port', port]);

    expect(await code).toBe(1);
    expect(err.text()).toBe(`canton-rx: port ${port} is in use: choose another with --port\n`);
    await other.close();
  });
});

describe('the demo', () => {
  it('finds both submissions in the feed', async () => {
    const { code, out } = runCli(['demo']);

    expect(await code).toBe(0);
    const text = out.text();
    expect(text.match(/^▸ +\d+ {2}signed by newcomer, committed as 1220\S+: (created|archived)$/gm)).toHaveLength(2);
    expect(text.match(/^✓ +\d+ {2}matched: the feed has 1220/gm)).toHaveLength(2);
    expect(text).toMatch(/✓ 2 submissions, all found among \d+ updates of the feed in \d+\.\d s\n\n$/);
    expect(text).not.toContain('\u001B');
    // each update once, in order
    const offsets = [...text.matchAll(/^ +(\d+) /gm)].map(([, offset]) => Number(offset));
    expect(offsets).toStrictEqual([...new Set(offsets)].sort((a, b) => a - b));
  });
});
