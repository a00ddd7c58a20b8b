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
    expect(err).toMatch(/Next: pause all submissions.*\n$/);
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
    const created = await submit(...createOptions());
    const [{ events }] = parseLines(created.out) as [{ events: [{ contractId: string }] }];
    const archive = ['--template', template, '--choice', 'Archive', '--contract', events[0].contractId];
    expect((await submit(...archive)).code).toBe(0);
    const refused = await submit('--dry-run', ...archive);
    expect(refused).toMatchObject({ code: 1, out: '' });
    expect(refused.err).toContain('CONTRACT_NOT_FOUND');
  });

  it('says what is wrong with arguments that the participant cannot decode, and does not advise to run it again', async () => {
    const createArguments = { owner: world.sandbox.hostedParty('alice'), amount: '1.0', serial: 1 };
    const line = ['--template', template, '--argument', JSON.stringify(createArguments)];
    for (const options of [[], ['--dry-run']]) {
      const { code, err } = await submit(...line, ...options);
      expect(code).toBe(1);
      expect(err).toContain('Next: correct the JSON of the arguments');
      expect(err).not.toContain('→');
    }
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

  it.each([
    ['order #42', "--command-id 'order #42' --since"],
    ['-x', '--command-id=-x --since'],
    ['order-1', '--command-id order-1 --since'],
  ])('quotes the command id %j in its advice', async (id, advice) => {
    world.sandbox.fault({ kind: 'hang' }, { path: transactionPath });
    const line = ['--act-as', world.sandbox.hostedParty('alice'), '--user-id', 'app', ...createOptions()];
    const run = world.start(['submit', ...line, `--command-id=${id}`]);
    await until(() => world.sandbox.requests.some(({ path }) => path === transactionPath));
    run.signals.emit('SIGINT');
    expect(await run.code).toBe(130);
    expect(run.err.text()).toContain(`the same command and ${advice} `);
  });

  it('names its option if the ledger requires a user', async () => {
    const run = world.start(['submit', '--act-as', world.sandbox.hostedParty('alice'), ...createOptions()]);
    expect(await run.code).toBe(1);
    expect(run.err.text()).toMatch(/^Next: add --user-id ID: no token names the user$/m);
    expect(run.err.text()).not.toContain('userId');
  });

  it('says that a command is committed if stdout cannot be written to, and does not end with 0 or 1', async () => {
    const out = capture({
      take: (_, done) => {
        done(new Error('ENOSPC'));
      },
    });
    const line = ['--act-as', world.sandbox.hostedParty('alice'), '--user-id', 'app', ...createOptions()];
    const run = world.start(['submit', ...line], { out });
    expect(await run.code).toBe(6);
    expect(run.err.text()).toMatch(/^canton-rx: cannot write to stdout: ENOSPC\ncommitted at offset \d+: 1220\S+\n$/);
    const dry = world.start(['submit', ...line, '--dry-run'], {
      out: capture({
        take: (_, done) => {
          done(new Error('ENOSPC'));
        },
      }),
    });
    expect(await dry.code).toBe(1);
    expect(dry.err.text()).toBe('canton-rx: cannot write to stdout: ENOSPC\n');
  });

  const requestFile = (request: object): string => {
    const file = join(world.folder, 'request.json');
    const command = { CreateCommand: { templateId: template, createArguments: JSON.parse(argumentOf()) as object } };
    writeFileSync(file, JSON.stringify({ commands: [command], ...request }));
    return file;
  };

  it.each([
    ['a decimal of many digits', '12345678901234567.123'],
    ['a whole number', '9007199254740993'],
    ['a number that is too large', '1e400'],
    ['a number that is too small', '-1.5e-400'],
    ['a long fraction', '0.10000000000000000001'],
  ])('commits no other amount than was written: %s', async (_, number) => {
    const before = world.sandbox.ledgerEnd;
    const argument = argumentOf().replace('"10.0"', number);
    const file = join(world.folder, 'request.json');
    writeFileSync(file, `{"commands":[{"CreateCommand":{"templateId":"${template}","createArguments":${argument}}}]}`);
    const given = await submit('--template', template, '--argument', argument);
    const read = await submit('--file', file);
    const reason = `has the number ${number}, which would be rounded: write it as text, in quotes\n`;
    expect(given).toMatchObject({ code: 2, out: '', err: `canton-rx: --argument ${reason}` });
    expect(read).toMatchObject({ code: 2, out: '', err: `canton-rx: --file ${reason}` });
    expect(world.sandbox.ledgerEnd).toBe(before);
  });

  it('commits a number that JSON keeps as it is', async () => {
    for (const [number, amount] of [
      ['10', '10.0000000000'],
      ['1.50e1', '15.0000000000'],
      ['0.1', '0.1000000000'],
    ] as const) {
      const argument = argumentOf().replace('"10.0"', number);
      const { code, out } = await submit('--template', template, '--argument', argument);
      expect(code).toBe(0);
      expect(parseLines(out)).toMatchObject([{ events: [{ createArgument: { amount } }] }]);
    }
  });

  it('passes on the digits of a text, with what looks like a number next to a quote', async () => {
    const tag = '\\"9007199254740993';
    const argument = JSON.stringify({ ...(JSON.parse(argumentOf()) as object), tag });
    const { code, out } = await submit('--template', template, '--argument', argument);
    expect(code).toBe(0);
    expect(parseLines(out)).toMatchObject([{ events: [{ createArgument: { tag } }] }]);
  });

  it('knows the command id of a request that leaves it open', async () => {
    const file = requestFile({ commandId: null });
    expect((await submit('--file', file, '--since', '0')).err).toBe('canton-rx: --since requires --command-id\n');
    world.sandbox.fault({ kind: 'hang' }, { path: transactionPath });
    const sent = () => world.sandbox.requests.filter(({ path }) => path === transactionPath);
    const before = sent().length;
    const line = ['--act-as', world.sandbox.hostedParty('alice'), '--user-id', 'app', '--file', file];
    const run = world.start(['submit', ...line]);
    await until(() => sent().length > before);
    run.signals.emit('SIGINT');
    expect(await run.code).toBe(130);
    const { commandId } = (sent().at(-1)?.body as { commands: { commandId: string } }).commands;
    expect(run.err.text()).toContain(`the same command and --command-id ${commandId} --since `);
  });

  it('refuses the same requests with --dry-run', async () => {
    for (const wrong of [
      { deduplicationPeriod: 'bogus' },
      { workflowId: '' },
      { worfklowId: 'typo' },
      { minLedgerTimeAbs: 'yesterday' },
      { commands: [] },
    ]) {
      const file = requestFile(wrong);
      const [dry, wet] = [await submit('--file', file, '--dry-run'), await submit('--file', file)];
      expect(dry.code).toBe(2);
      expect(dry.err).toBe(wet.err);
    }
  });

  it('prepares all that it would submit with --dry-run', async () => {
    // that of the package sandbox-assets
    const packageId = '77784656e49c9e82ec29a3293a337a228836d3eac7cd1633d5b9b498a254ce76';
    const fields = {
      packageIdSelectionPreference: [packageId],
      prefetchContractKeys: [{ templateId: template, contractKey: {} }],
      tapsMaxPasses: 2,
    };
    const time = '2020-01-01T00:00:00Z';
    expect((await submit('--file', requestFile({ ...fields, minLedgerTimeAbs: time }), '--dry-run')).code).toBe(0);
    expect(world.sandbox.requests.at(-1)?.body).toMatchObject({
      ...fields,
      minLedgerTime: { time: { MinLedgerTimeAbs: { value: time } } },
    });
  });

  it('prepares each of several commands with --dry-run, and commits none', async () => {
    const command = { CreateCommand: { templateId: template, createArguments: JSON.parse(argumentOf()) as object } };
    const file = requestFile({ commands: [command, command] });
    const before = world.sandbox.ledgerEnd;
    const { code, out } = await submit('--file', file, '--dry-run');
    expect([code, parseLines(out).length]).toEqual([0, 2]);
    expect(world.sandbox.ledgerEnd).toBe(before);
    const shown = capture({ isTTY: true });
    const alice = world.sandbox.hostedParty('alice');
    const run = world.start(['submit', '--act-as', alice, '--user-id', 'app', '--file', file, '--dry-run'], {
      out: shown,
    });
    expect(await run.code).toBe(0);
    expect(shown.text()).toMatch(
      /^each of the 2 commands is valid without the others, .*traffic: \d+ bytes for separate/,
    );
  });

  it.each([
    ['403 of the ledger', 403, cantonError('PERMISSION_DENIED'), 5],
    ['a withheld 403', 403, { ...cantonError('PERMISSION_DENIED'), code: 'NA', errorCategory: -1 }, 5],
    ['a refusal of the model', 400, cantonError('DAML_AUTHORIZATION_ERROR'), 1],
  ])('after %s ends with its exit code', async (_, status, body, expected) => {
    for (const options of [[], ['--dry-run']]) {
      world.sandbox.fault({ kind: 'status', status, body }, { path: /commands|prepare/ });
      expect((await submit(...createOptions(), ...options)).code).toBe(expected);
    }
  });
});
