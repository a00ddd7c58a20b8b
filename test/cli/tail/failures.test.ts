import { describe, expect, it } from '@jest/globals';
import { cantonError } from '../../../src/sandbox/index.js';
import { until } from '../../helpers/time.js';
import { cliWorld } from '../cliWorld.js';
import { parseLines, runCli } from '../runCli.js';

const world = cliWorld();

describe('a failure of the ledger in tail', () => {
  it('is reported without a stack, with the offset to resume from', async () => {
    const run = runCli(['tail', '--ledger', world.sandbox.url, '--from', '3']);
    await run.out.lines(10);
    world.sandbox.fault(
      { kind: 'status', status: 403, body: cantonError('PERMISSION_DENIED') },
      { path: /updates|ledger-end/ },
    );
    world.startTraffic();

    expect(await run.code).toBe(1);
    const last = parseLines(run.out.text()).at(-1)?.['offset'];
    expect(run.err.text()).toMatch(/^127\.0\.0\.1:\d+ answered 403/);
    expect(run.err.text().endsWith(`\nresume with --from ${String(last)}\n`)).toBe(true);
    expect(run.err.text()).not.toMatch(/^ +at /m);
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
    const { code, out, err } = await world.tail(
      '--variant',
      'Transaction',
      '--variant',
      'Reassignment',
      '--variant',
      'TopologyTransaction',
    );

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
    expect(err.text()).toMatch(/^The ledger is pruned beyond the cursor\.\nEarliest offset: 50\n/);
    // the user decides whether to skip updates
    expect(err.text()).toContain('the pruned updates are gone: --from 50 continues without them\n');
    expect(err.text()).not.toContain('resume');
  });

  it('is a ledger that already ends after --to', async () => {
    const { code, err } = await world.tail('--from', 'end', '--to', '5');

    expect(code).toBe(1);
    expect(err.text()).toBe(`the ledger already ends at ${world.sandbox.ledgerEnd}, after --to 5\n`);
  });

  it('is reported at once if the first request cannot connect', async () => {
    await world.sandbox.close();
    const { code, err } = await world.tail();

    expect(code).toBe(1);
    expect(err.text()).toMatch(/^127\.0\.0\.1:\d+ cannot be reached \(ECONNREFUSED\)\.\n/);
    expect(err.text()).not.toContain('resume');
  });

  it('is announced if there is no answer for some seconds: a wrong port may be silent', async () => {
    world.sandbox.fault({ kind: 'hang' }, { path: /ledger-end/ });
    const run = runCli(['tail', '--ledger', world.sandbox.url]);
    await until(() => run.err.text() === "no answer yet: 'canton-rx check' with the same --ledger tells why\n");
    run.signals.emit('SIGINT');

    expect(await run.code).toBe(0);
  });

  it('is not reported if only the ledger end is missing', async () => {
    await world.restart({ interfaceOnly: true });
    const { code, out } = await world.tail('--to', '60');

    expect(code).toBe(0);
    expect(parseLines(out.text()).length).toBeGreaterThan(10);
  });

  it('is retried once the feed runs', async () => {
    const run = runCli(['tail', '--ledger', world.sandbox.url, '--to', String(world.sandbox.ledgerEnd)]);
    world.sandbox.fault({ kind: 'reset' }, { path: '/v2/updates/flats', times: 2 });

    expect(await run.code).toBe(0);
    expect(parseLines(run.out.text()).map(({ offset }) => offset)).toStrictEqual(await world.tailOffsets());
  });
});
