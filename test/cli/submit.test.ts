import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { cantonError } from '../../src/sandbox/index.js';
import { until } from '../helpers/time.js';
import { transactionPath } from '../sandbox/commands.js';
import { cliWorld } from './cliWorld.js';
import { capture, parseLines, runCli } from './runCli.js';

const world = cliWorld();

const template = '#sandbox-assets:Main:Asset';

/** Runs `canton-rx submit` for a hosted party to its end. */
async function submit(...options: readonly string[]) {
  const alice = world.sandbox.hostedParty('alice');
  const run = world.start(['submit', '--act-as', alice, '--user-id', 'app', ...options]);
  return { code: await run.code, out: run.out.text(), err: run.err.text(), alice };
}

const argumentOf = (): string =>
  JSON.stringify({ owner: world.sandbox.hostedParty('alice'), amount: '10.0', serial: '1' });

const createOptions = () => ['--template', template, '--argument', argumentOf()];

describe('canton-rx submit', () => {
  it('creates a contract, and exercises a choice on it', async () => {
    const created = await submit(...createOptions());
    expect(created).toMatchObject({ code: 0, err: '' });
    const [transaction] = parseLines(created.out) as [{ events: [{ contractId: string }] }];
    const contract = transaction.events[0].contractId;
    const archived = await submit('--template', template, '--choice', 'Archive', '--contract', contract);
    expect(archived.code).toBe(0);
    expect(parseLines(archived.out)).toMatchObject([{ events: [{ _tag: 'ArchivedEvent', contractId: contract }] }]);
  });

  it('reads a request from a file, and commits a command id once', async () => {
    const file = join(world.folder, 'request.json');
    const commands = [{ CreateCommand: { templateId: template, createArguments: JSON.parse(argumentOf()) as object } }];
    writeFileSync(file, JSON.stringify({ commandId: 'order-1', commands }));
    const before = world.sandbox.updates.length;
    const since = String(world.sandbox.ledgerEnd);
    const first = await submit('--file', file);
    const again = await submit('--file', file, '--command-id', 'order-1', '--since', since);
    expect([first.code, again.code]).toEqual([0, 0]);
    expect(parseLines(again.out)).toMatchObject([{ ...parseLines(first.out)[0], isRepeated: true }]);
    expect(world.sandbox.updates).toHaveLength(before + 1);
  });

  it('prints for a person on a terminal', async () => {
    const alice = world.sandbox.hostedParty('alice');
    const out = capture({ isTTY: true });
    const line = ['submit', '--ledger', world.sandbox.url, '--act-as', alice, '--user-id', 'app', ...createOptions()];
    expect(await runCli(line, { out }).code).toBe(0);
    expect(out.text()).toMatch(
      /^committed at offset \d+: 1220\S+\n {2}CreatedEvent #sandbox-assets:Main:Asset 00[0-9a-f]+\n$/,
    );
  });

  it('says why a command is rejected, and ends with 1', async () => {
    world.sandbox.fault({ kind: 'reject', code: 'SEQUENCER_NOT_ENOUGH_TRAFFIC_CREDIT' }, { path: transactionPath });
    const { code, err } = await submit(...createOptions());
    expect(code).toBe(1);
    expect(err).toContain('Reason: traffic');
    expect(err).toMatch(/Next step: pause all submissions.*\n$/);
  });

  it('says how to find out about an outcome that is not known', async () => {
    const { url } = world.sandbox;
    const alice = world.sandbox.hostedParty('alice');
    world.sandbox.fault({ kind: 'hang' }, { path: transactionPath });
    const run = runCli(['submit', '--ledger', url, '--act-as', alice, '--user-id', 'app', ...createOptions()]);
    await until(() => world.sandbox.requests.some(({ path }) => path === transactionPath));
    run.signals.emit('SIGINT');
    expect(await run.code).toBe(130);
    expect(run.err.text()).toMatch(
      /may be committed\ndetermine it with the same command and --command-id \S+ --since \d+\n$/,
    );
  });

  it('interprets a command without committing it', async () => {
    const before = world.sandbox.ledgerEnd;
    const { code, out } = await submit('--dry-run', ...createOptions());
    expect(code).toBe(0);
    expect(parseLines(out)).toMatchObject([{ costEstimation: { totalTrafficCostEstimation: expect.any(Number) } }]);
    expect(world.sandbox.ledgerEnd).toBe(before);
    const refused = await submit('--dry-run', '--template', template, '--choice', 'Archive', '--contract', '00aa');
    expect(refused).toMatchObject({ code: 1, out: '' });
    expect(refused.err).toContain('CONTRACT_NOT_FOUND');
  });

  it('refuses a request that the library refuses', async () => {
    const { code, err } = await submit('--template', 'Asset');
    expect(code).toBe(2);
    expect(err).toMatch(/^canton-rx: The request is invalid and was not sent: [^\n]+\n$/);
  });

  it('explains a ledger that refuses the token', async () => {
    world.sandbox.fault({ kind: 'status', status: 401, body: cantonError('UNAUTHENTICATED') }, { times: 99 });
    expect((await submit(...createOptions())).code).toBe(5);
  });
});
