import { readdirSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { cantonError } from '../../src/sandbox/index.js';
import { updateValue } from '../../src/sandbox/wire/WireUpdate.js';
import { until, useProcessTime } from '../helpers/time.js';
import { cliWorld } from './cliWorld.js';
import { parseLines, runCli } from './runCli.js';

const world = cliWorld();

describe('a failure of the ledger in tail', () => {
  it('is reported without a stack, with the offset to resume from', async () => {
    const run = world.start(['tail', '--from', '3']);
    await run.out.lines(10);
    world.sandbox.fault(
      { kind: 'status', status: 403, body: cantonError('PERMISSION_DENIED') },
      { path: /updates|ledger-end/ },
    );
    world.startTraffic();

    expect(await run.code).toBe(1);
    const last = parseLines(run.out.text()).at(-1)?.['offset'];
    expect(run.err.text()).toMatch(/^canton-rx: 127\.0\.0\.1:\d+ answered 403/);
    expect(run.err.text().endsWith(`\nresume with --from ${String(last)}\n`)).toBe(true);
    expect(run.err.text()).not.toMatch(/^ +at /m);
  });

  it('is another ledger at the address: nothing of it is printed, and no offset to resume from', async () => {
    const { sandbox } = world;
    const run = runCli(['tail', '--ledger', sandbox.url, '--variant', 'Transaction']);
    await run.out.lines(100);
    const end = sandbox.ledgerEnd;
    await sandbox.restart({
      participantId: 'other::1220ab',
      downMs: 1_100,
      whileDown: () => {
        sandbox.restore(0);
        while (sandbox.ledgerEnd <= end + 100) sandbox.generate(100, { seed: 77 });
      },
    });

    expect(await run.code).toBe(1);
    const printed = parseLines(run.out.text()).map(({ updateId }) => updateId);
    const ids = new Set<unknown>(sandbox.updates.map((update) => updateValue(update).updateId));
    expect(printed.filter((id) => ids.has(id))).toEqual([]);
    expect(run.err.text()).toContain('This is another ledger: ');
    expect(run.err.text()).toContain('→ its offsets have another meaning now: start with --from 0 or --from end\n');
    expect(run.err.text()).not.toContain('resume with');
  });

  it('is an update that cannot be printed: the offset to resume from is before it', async () => {
    const deep = `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
    let last = 0;
    // the third update of the page has a field that is too deep for JSON.stringify
    const body = (answer: unknown): string => {
      const parts = JSON.stringify(answer).split('{"update":');
      last = Number(/"offset":(\d+)/.exec(parts[2] ?? '')?.[1]);
      return parts
        .map((part, i) => (i === 3 ? part.replace('{"value":{', `{"value":{"deep":${deep},`) : part))
        .join('{"update":');
    };
    world.sandbox.fault({ kind: 'rewrite', body }, { path: /updates/ });
    const variants = ['Transaction', 'Reassignment', 'TopologyTransaction'];
    const { code, out, err } = await world.tail(...variants.flatMap((variant) => ['--variant', variant]));

    expect(code).toBe(1);
    expect(parseLines(out.text())).toHaveLength(2);
    expect(err.text()).toContain(`resume with --from ${last}\n`);
  });

  it('is reported without control characters of the ledger and without lines that look like those of tail', async () => {
    const cause = 'bad\u001b[2J\nresume with --from 999';
    world.sandbox.fault(
      { kind: 'status', status: 400, body: { ...cantonError('INVALID_ARGUMENT'), cause } },
      { path: /updates/ },
    );
    const { err } = await world.tail();

    expect(err.text()).toContain('400: bad [2J resume with --from 999\n');
    expect(err.text().match(/^resume.*$/gm)).toStrictEqual(['resume with --from 0']);
  });

  it('has advice if the updates are pruned', async () => {
    world.sandbox.prune(50);
    const { code, err } = await world.tail('--from', '3');

    expect(code).toBe(1);
    expect(err.text()).toMatch(/^canton-rx: The ledger is pruned beyond the cursor\.\nEarliest offset: 50\n/);
    // the user decides whether to skip updates
    expect(err.text()).toContain('→ the pruned updates are gone: --from 50 continues without them\n');
    expect(err.text()).not.toContain('resume');
  });

  it.each([
    [['--from', 'end', '--to', '5'], (end: number) => `the ledger already ends at ${end}, after --to 5`],
    [['--from', '99999'], (end: number) => `the ledger ends at offset ${end}, before --from 99999`],
  ])('is a ledger that ends elsewhere than %j require', async (options, reason) => {
    const { code, err } = await world.tail(...options);

    expect([code, err.text()]).toEqual([1, `canton-rx: ${reason(world.sandbox.ledgerEnd)}\n`]);
  });

  it('is a token that is required: without one, none is refused', async () => {
    await world.restart({ checkToken: (token) => token === 'letmein' });
    const without = await world.tail();
    const env = { CANTON_RX_LEDGER_TOKEN: 's3cret-other' };
    const refused = world.start(['tail'], { env });

    expect([without.code, await refused.code]).toEqual([5, 5]);
    expect(without.err.text()).toMatch(
      /^canton-rx: 127\.0\.0\.1:\d+ requires a token: give one with --token-file FILE or CANTON_RX_LEDGER_TOKEN\n/,
    );
    expect(refused.err.text()).toMatch(/^canton-rx: 127\.0\.0\.1:\d+ refuses the token\.\n/);
    expect(without.err.text()).toContain('→ give one with --token-file FILE or CANTON_RX_LEDGER_TOKEN');
    expect(refused.err.text()).toContain('✗ token  token refused (401)');
    expect(refused.out.text() + refused.err.text()).not.toContain('s3cret');
  });

  it('is reported at once if the first request cannot connect', async () => {
    await world.sandbox.close();
    const { code, err } = await world.tail();

    expect(code).toBe(3);
    expect(err.text()).toMatch(/^canton-rx: 127\.0\.0\.1:\d+ cannot be reached \(ECONNREFUSED\)\.\n/);
    expect(err.text()).toContain('✗ reachable  connection refused: nothing listens on this port\n');
    expect(err.text()).not.toContain('resume');
  });

  it('is announced if there is no answer for some seconds: a wrong port may be silent', async () => {
    useProcessTime(20);
    world.sandbox.fault({ kind: 'hang' }, { path: /ledger-end/ });
    const run = world.start(['tail']);
    const { host } = new URL(world.sandbox.url);
    const hint = `canton-rx: no response from ${host} yet; run 'canton-rx check' with the same --ledger for the reason\n`;
    await until(() => run.err.text() === hint);
    run.signals.emit('SIGINT');

    expect(await run.code).toBe(0);
    expect(run.err.text()).toBe(`${hint}stopped\n`);
  });

  it('is not reported if only the ledger end is missing', async () => {
    await world.restart({ interfaceOnly: true });
    const { code, out } = await world.tail('--to', '60');

    expect(code).toBe(0);
    expect(parseLines(out.text()).length).toBeGreaterThan(10);
  });

  it.each([[['tail']], [['contracts', '--follow']], [['replay', '--to', '100000', '--out']]])(
    'is reported once for each outage if stderr is not a terminal, with host and port: %j',
    async ([...line]) => {
      const file = line.includes('replay') ? [`${world.folder}/out.ndjson`] : [];
      const run = runCli([...line, ...file, '--ledger', world.sandbox.url]);
      await world.pending();
      const { host } = new URL(world.sandbox.url);
      const notice = `canton-rx: requests to ${host} fail (SERVICE_NOT_RUNNING); retrying\n`;
      world.sandbox.fault(
        { kind: 'status', status: 503, body: cantonError('SERVICE_NOT_RUNNING') },
        { path: /updates/, times: 2 },
      );
      // more than the pending request can have
      world.sandbox.generate(250);
      await until(() => run.err.text().endsWith(`${notice}canton-rx: ${host} responds again\n`));
      expect(run.err.text().split('(SERVICE_NOT_RUNNING)')).toHaveLength(2);
      run.signals.emit('SIGTERM');
      await run.code;

      expect(run.err.text().split('\n').at(-2)).toMatch(/resume|\d+ contracts at offset \d+$/);
    },
  );

  it.each([
    ['tail', '--party', 'alicce::1220aa', /the party alicce::1220aa: did you mean alice::1220[0-9a-f]+\?\n$/],
    ['contracts', '--party', 'x::1220aa', /the party x::1220aa: check the spelling of --party\n$/],
    ['replay', '--party', 'x::1220aa', /the party x::1220aa: check the spelling of --party\n$/],
    ['tail', '--template', '#nope:Main:Asset', /the template #nope:Main:Asset: check .*\n$/],
    ['replay', '--template', '#sandbox-assets:Main:Nope', /the template #sandbox-assets:Main:Nope: check .*\n$/],
    [
      'contracts',
      '--template',
      `${'ab'.repeat(32)}:Main:Asset`,
      /the package id (?:ab){32} in --template: write #package-name:Module:Entity\n$/,
    ],
  ])('is a name of %s %s that the participant does not know: %s', async (command, option, name, expected) => {
    const file = `${world.folder}/out.ndjson`;
    const out = command === 'replay' ? ['--out', file] : [];
    const { code, err } = world.start([command, option, name, ...out]);

    expect(await code).toBe(1);
    expect(err.text()).toMatch(/^canton-rx: the participant does not (?:know|accept) [^\n]*\n$/);
    expect(err.text()).toMatch(expected);
    // nothing is left in the way of the corrected command
    expect(readdirSync(world.folder)).toStrictEqual([]);
  });

  it('is not a synchronizer that the participant does not know, but is named', async () => {
    const [first = ''] = world.sandbox.synchronizers;
    const { code, err } = await world.tail('--synchronizer', 'nope', '--synchronizer', first, '--to', '20');

    expect(code).toBe(0);
    expect(err.text()).toBe(
      'canton-rx: the participant is not connected to the synchronizer nope: only earlier updates can be of it\n',
    );
  });

  it('is not a party that cannot be checked', async () => {
    world.sandbox.fault({ kind: 'status', status: 403, body: cantonError('NA') }, { path: /connected-synchronizers/ });

    expect((await world.tail('--party', 'x::1220aa', '--to', '20')).code).toBe(0);
  });
});
