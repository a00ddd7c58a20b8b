import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { describe, expect, it } from '@jest/globals';
import { firstValueFrom } from 'rxjs';
import { activeContracts, contractChanges } from '../../../src/contracts/index.js';
import { createLedger } from '../../../src/ledger/createLedger.js';
import { cantonError } from '../../../src/sandbox/index.js';
import { until } from '../../helpers/time.js';
import { cliWorld } from '../cliWorld.js';
import { capture, parseLines } from '../runCli.js';

const world = cliWorld();
const pruned = { kind: 'status', status: 400, body: cantonError('PARTICIPANT_PRUNED_DATA_ACCESSED') } as const;

const contracts = async (...options: readonly string[]) => {
  const run = world.start(['contracts', ...options]);
  return { ...run, code: await run.code };
};

/** The contracts of the ledger as the library gives them, in JSON. */
const expected = async (): Promise<ReadonlyMap<string, unknown>> => {
  const ledger = createLedger({ baseUrl: world.sandbox.url });
  const change = await firstValueFrom(contractChanges(ledger, { parties: 'any' }));
  if (change._tag !== 'Reset') throw new Error(change._tag);
  const facts = change.contracts.map(({ contractId, location, reassignmentCounter, payload }) => {
    return [contractId, { location, reassignmentCounter, payload }] as const;
  });
  return new Map(JSON.parse(JSON.stringify(facts)) as [string, unknown][]);
};

/** A change of an answer: longer titles. */
const withTitles =
  (text: string) =>
  (answer: unknown): string =>
    JSON.stringify(answer).replaceAll('"title":"', `"title":"${text}`);

/** An entry of an answer with active contracts. */
interface ActiveEntry {
  readonly contractEntry: {
    readonly JsActiveContract?: {
      readonly createdEvent: object;
      readonly synchronizerId: string;
      readonly reassignmentCounter: number;
    };
  };
}

const printed = (text: string): ReadonlyMap<unknown, unknown> =>
  new Map(
    parseLines(text).map(({ contractId, location, reassignmentCounter, payload }) => [
      contractId,
      { location, reassignmentCounter, payload },
    ]),
  );

describe('a snapshot printed by contracts', () => {
  it('has each contract once and where it is last, tag first, and a summary on stderr', async () => {
    world.sandbox.generate(2_000);
    const { code, out, err } = await contracts();

    expect(code).toBe(0);
    const lines = parseLines(out.text());
    expect(printed(out.text())).toStrictEqual(await expected());
    expect(new Set(lines.map(({ contractId }) => contractId)).size).toBe(lines.length);
    expect(out.text()).toMatch(/^\{"_tag":"Contract","type":"#sandbox-/);
    expect(err.text()).toMatch(
      new RegExp(`^[\\d ]+ contracts(, \\d+ in flight)? at offset ${world.sandbox.ledgerEnd}: sandbox-`),
    );
  });

  it('has a contract where it is active, and not what was before: an entry that it is assigned changes nothing', async () => {
    const all = await expected();
    const assigned = (answer: unknown): unknown => {
      const { activeContracts: entries, ...rest } = answer as { readonly activeContracts: readonly ActiveEntry[] };
      const claims = entries.flatMap(({ contractEntry: { JsActiveContract: active }, ...others }) => {
        if (active === undefined) return [];
        const { createdEvent, synchronizerId: target, reassignmentCounter } = active;
        const assignedEvent = { createdEvent, source: 'former::1220ab', target, reassignmentCounter };
        const facts = { reassignmentId: '1220ab', submitter: 'alice::1220ab' };
        return [
          { ...others, contractEntry: { JsIncompleteAssigned: { assignedEvent: { ...facts, ...assignedEvent } } } },
        ];
      });
      return { ...rest, activeContracts: [...entries, ...claims] };
    };
    world.sandbox.fault({ kind: 'rewrite', body: assigned }, { path: /active-contracts-page/, times: Infinity });
    const { code, out } = await contracts();

    expect(code).toBe(0);
    expect(printed(out.text())).toStrictEqual(all);
  });

  it('is that of an earlier offset with --at', async () => {
    const ledger = createLedger({ baseUrl: world.sandbox.url });
    const ids = new Set<string>();
    await activeContracts(ledger, { parties: 'any', activeAtOffset: 100 }).forEach((entry) => {
      if (entry._tag === 'ActiveContract') ids.add(entry.createdEvent.contractId);
    });
    const { out, err } = await contracts('--at', '100');

    expect(err.text()).toContain(' at offset 100: ');
    const active = parseLines(out.text()).filter(({ location }) => !JSON.stringify(location).includes('inFlight'));
    expect(active.length).toBeGreaterThan(5);
    expect(active.every(({ contractId }) => ids.has(String(contractId)))).toBe(true);
    expect((await contracts('--at', '0')).err.text()).toBe('no contracts at offset 0\n');
  });

  it('selects by template and by party', async () => {
    const template = '#sandbox-tasks:Tasks.Model:Task';
    const [alice = ''] = world.sandbox.parties;
    const { out } = await contracts('--template', template, '--party', alice);

    const lines = parseLines(out.text());
    expect(lines.length).toBeGreaterThan(3);
    expect(new Set(lines.map(({ type }) => type))).toStrictEqual(new Set([template]));
    expect(lines.every((line) => JSON.stringify(line['signatories']).includes(alice))).toBe(true);
  });

  it.each([
    [
      90,
      'contract       package:entity              on              payload',
      /^00[0-9a-f]{10}… {2}sandbox-tasks:Task {10}sync\d {11}owner \w+/,
    ],
    // the payload has the room of the id and the synchronizer
    [60, 'package:entity              payload', /^sandbox-tasks:Task {10}owner \w+ {2}title/],
  ])('has rows on a terminal of %d columns, never wider than it', async (columns, heading, row) => {
    const out = capture({ isTTY: true, columns });
    const { code } = world.start(['contracts'], { out, env: { NO_COLOR: '1' } });

    expect(await code).toBe(0);
    const lines = out.text().trimEnd().split('\n');
    expect(lines[0]).toBe(heading);
    expect(lines.some((line) => row.test(line))).toBe(true);
    expect(Math.max(...lines.map((line) => line.length))).toBe(columns);
  });

  it('is the same by lists, by a WebSocket and from the updates', async () => {
    const all = await expected();
    await world.restart({ profile: '3.4' }, 300);

    expect(printed((await contracts()).out.text()).size).toBe(all.size);
    expect(printed((await contracts('--websocket')).out.text()).size).toBe(all.size);
  });

  it('may be larger than what is held in memory, and leaves no file', async () => {
    const temporary = () => readdirSync(tmpdir()).filter((name) => /^canton-rx-[\da-f-]{36}$/.test(name));
    const before = temporary();
    const all = await expected();
    world.sandbox.fault({ kind: 'rewrite', body: withTitles('é'.repeat(100_000)) }, { path: /active-contracts-page/ });
    const { code, out } = await contracts();

    expect(code).toBe(0);
    expect(out.text().length).toBeGreaterThan(5_000_000);
    const ids = parseLines(out.text()).map(({ contractId }) => contractId);
    expect(new Set(ids)).toStrictEqual(new Set(all.keys()));
    expect(ids).toHaveLength(all.size);
    expect(temporary().filter((name) => !before.includes(name))).toEqual([]);
  });

  it('names TMPDIR if it is too large for memory and no file can be created', async () => {
    world.sandbox.fault({ kind: 'rewrite', body: withTitles('x'.repeat(100_000)) }, { path: /active-contracts-page/ });
    const { code, err } = world.start(['contracts'], { env: { TMPDIR: '/nonexistent' } });

    expect(await code).toBe(1);
    expect(err.text()).toContain('no temporary file can be created in /nonexistent, the folder of TMPDIR: ENOENT');
  });

  it('has lines of JSON that are safe for a terminal, whatever the ledger sends', async () => {
    const name = 'a\t\u001b]0;b\u0007';
    const body = (answer: unknown): string =>
      JSON.stringify(answer).replaceAll('"packageName":"sandbox-tasks"', `"packageName":${JSON.stringify(name)}`);
    world.sandbox.fault({ kind: 'rewrite', body }, { path: /active-contracts-page/ });
    const out = capture({ isTTY: true });
    const { code, err } = world.start(['contracts', '--json'], { out });

    expect(await code).toBe(0);
    expect(parseLines(out.text()).some(({ type }) => type === `#${name}:Tasks.Model:Task`)).toBe(true);
    expect(out.text() + err.text()).not.toMatch(/[^\P{Cc}\n]/u);
  });

  it('is empty for a template without contracts', async () => {
    world.sandbox.uploadPackage('empty', { templates: ['Main:Nothing'] });
    const { code, out, err } = await contracts('--template', '#empty:Main:Nothing');

    expect([code, out.text()]).toStrictEqual([0, '']);
    expect(err.text()).toBe(`no contracts at offset ${world.sandbox.ledgerEnd}\n`);
  });

  it('begins again, with nothing printed twice, if it cannot be continued', async () => {
    world.sandbox.generate(2_000);
    world.sandbox.fault(
      { kind: 'status', status: 400, body: cantonError('INVALID_ACS_PAGE_TOKEN') },
      { path: /active-contracts-page/, times: 1, after: 1 },
    );
    const { code, out } = await contracts();

    expect(code).toBe(0);
    expect(printed(out.text())).toStrictEqual(await expected());
    expect(parseLines(out.text()).length).toBe((await expected()).size);
  });
});

describe('contracts --follow', () => {
  it('prints all contracts, and then each update that changes some of them', async () => {
    const { code, out, err, signals } = world.start(['contracts', '--follow']);
    const [first = ''] = await out.lines(1);
    const { count, ...reset } = JSON.parse(first) as Record<string, unknown>;
    await out.lines(Number(count) + 1);
    world.startTraffic();
    await out.lines(Number(count) + 20);
    world.stopTraffic();
    const end = world.sandbox.ledgerEnd;
    await until(() => parseLines(out.text()).some(({ offset }) => Number(offset) >= end - 3));
    signals.emit('SIGINT');

    expect(await code).toBe(0);
    expect(reset).toMatchObject({ _tag: 'Reset', reason: 'start' });
    const active = new Map<unknown, unknown>();
    for (const line of parseLines(out.text())) {
      const change = line as unknown as Record<'added' | 'removed', { contractId: string }[]>;
      if (line['_tag'] === 'Contract') active.set(line['contractId'], line);
      if (line['_tag'] !== 'ContractsChanged') continue;
      for (const { contractId } of change.removed) expect(active.delete(contractId)).toBe(true);
      for (const contract of change.added) active.set(contract.contractId, contract);
    }
    expect(err.text()).toContain(`${active.size} contracts at offset `);
  });

  it('marks what has changed on a terminal, prints all contracts again after a gap, and says why', async () => {
    const out = capture({ isTTY: true, columns: 100 });
    const run = world.start(['contracts', '-f'], { out, env: { NO_COLOR: '1' } });
    await until(() => out.text().includes('; changes follow ──\n'));
    world.startTraffic();
    await until(() => /^\+ 00/m.test(out.text()) && /^- 00/m.test(out.text()) && /^→ 00/m.test(out.text()));
    // with the last update before the cursor, and without
    world.sandbox.fault(pruned, { path: /updates/, times: 2 });
    await until(() => out.text().includes('── all contracts again: the ledger was pruned meanwhile ──\n'));
    run.signals.emit('SIGTERM');

    expect(await run.code).toBe(0);
  });

  it('prints a reset, and the contracts of another ledger at the address alone', async () => {
    const { sandbox } = world;
    const run = world.start(['contracts', '-f']);
    const lines = (): ReturnType<typeof parseLines> => parseLines(run.out.text());
    await world.pending();
    const end = sandbox.ledgerEnd;
    await sandbox.restart({
      participantId: 'other::1220ab',
      whileDown: () => {
        sandbox.restore(0);
        while (sandbox.ledgerEnd <= end + 100) sandbox.generate(100, { seed: 77 });
      },
    });
    await until(() => lines().some(({ reason }) => reason === 'ledgerReset'));
    const start = lines().findIndex(({ reason }) => reason === 'ledgerReset');
    await run.out.lines(start + 1 + Number(lines()[start]?.['count']));
    run.signals.emit('SIGTERM');

    expect(await run.code).toBe(0);
    const after = lines().slice(start);
    const ids = after.filter(({ _tag }) => _tag === 'Contract').map(({ contractId }) => contractId);
    expect(ids.sort()).toEqual([...(await expected()).keys()].sort());
  });
});

describe('the end of contracts', () => {
  it('is 130 if it is interrupted before all contracts are printed, and then nothing is printed', async () => {
    world.sandbox.fault({ kind: 'hang' }, { path: /active-contracts-page/ });
    const { code, out, err, signals } = world.start(['contracts']);
    await until(() => world.sandbox.requests.some(({ path }) => path.includes('active-contracts-page')));
    signals.emit('SIGINT');

    expect([await code, out.text()]).toStrictEqual([130, '']);
    expect(err.text()).toBe('interrupted: the contracts are not complete\n');
    expect(signals.listenerCount('SIGINT')).toBe(0);
  });

  it('is 130 if it is interrupted while --follow prints all contracts again', async () => {
    const body = withTitles('x'.repeat(100_000));
    world.sandbox.fault({ kind: 'rewrite', body }, { path: /active-contracts-page/, times: Infinity });
    let isSlow = false;
    let read = (): void => undefined;
    const out = capture({
      take: (text, done) => {
        isSlow ||= text.includes('"reason":"pruned"');
        read = done;
        if (!isSlow) done();
      },
    });
    const run = world.start(['contracts', '--follow'], { out });
    await until(() => out.text().includes('"_tag":"Contract"'));
    // with the last update before the cursor, and without
    world.sandbox.fault(pruned, { path: /updates/, times: 2 });
    world.startTraffic();
    await until(() => isSlow && out.output.writableLength > 2 ** 20);
    run.signals.emit('SIGINT');
    isSlow = false;
    read();

    expect(await run.code).toBe(130);
    expect(run.err.text()).toBe('interrupted: the contracts are not complete\n');
  });

  it('has the next step for an offset that cannot be read', async () => {
    world.sandbox.prune(50);

    expect((await contracts('--at', '20')).err.text()).toMatch(
      /→ the pruned updates are gone: --at 50 is the earliest snapshot\n$/,
    );
    const { code, err } = await contracts('--at', '99999');
    expect(code).toBe(1);
    expect(err.text()).toBe(`canton-rx: the ledger ends at offset ${world.sandbox.ledgerEnd}, before --at 99999\n`);
  });
});

describe('contracts --output', () => {
  it('has the rows of a terminal in a pipe with table, and JSON on a terminal with json', async () => {
    const run = (form: string, isTTY: boolean) =>
      world.start(['contracts', '--output', form], { out: capture({ isTTY, columns: 200 }) });
    const [table, json] = [run('table', false), run('json', true)];
    expect([await table.code, await json.code]).toEqual([0, 0]);
    expect(table.out.text()).toMatch(/^contract {7}package:entity {14}on {14}payload\n00/);
    expect(table.out.text().match(/^00/gm)).toHaveLength((await expected()).size);
    expect(printed(json.out.text())).toStrictEqual(await expected());
  });
});

describe('contracts --output csv', () => {
  it('has a column for each field of the payloads, and each contract once', async () => {
    world.sandbox.generate(500);
    const { code, out } = await contracts('--output', 'csv');
    expect(code).toBe(0);
    const [head = '', ...lines] = out.text().trimEnd().split('\r\n');
    expect(head).toMatch(/^contractId,type,synchronizer,createdAt,offset,signatories,observers,payload\.\w+/);
    expect(lines.map((line) => line.slice(0, line.indexOf(','))).sort()).toEqual([...(await expected()).keys()].sort());
  });

  it('quotes what has commas, and what a spreadsheet would run', async () => {
    const payload = { a: '=HYPERLINK("x")', b: '-10.5', c: [1, 'x,y'], d: null };
    const body = (answer: unknown): string =>
      JSON.stringify(answer).replaceAll(/"createArgument":\{[^}]*\}/g, `"createArgument":${JSON.stringify(payload)}`);
    world.sandbox.fault({ kind: 'rewrite', body }, { path: /active-contracts-page/ });
    const { out } = await contracts('--output', 'csv', '--template', '#sandbox-tasks:Tasks.Model:Task');
    const [head, line] = out.text().split('\r\n');
    expect(head).toMatch(/,payload\.a,payload\.b,payload\.c,payload\.d$/);
    expect(line).toMatch(/,"'=HYPERLINK\(""x""\)",-10\.5,"\[1,""x,y""\]",$/);
  });
});
