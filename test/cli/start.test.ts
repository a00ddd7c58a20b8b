import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { updateValue } from '../../src/sandbox/wire/WireUpdate.js';
import { cliWorld } from './cliWorld.js';
import { parseLines } from './runCli.js';

const world = cliWorld();

const offsetsOf = async (...options: readonly string[]): Promise<readonly unknown[]> => {
  const { code, out, err } = await world.tail('--to', String(world.sandbox.ledgerEnd), ...options);
  expect([code, err.text()]).toEqual([0, '']);
  return parseLines(out.text()).map(({ offset }) => offset);
};

const isTransaction = ['--variant', 'Transaction'];

/** The record time of the transaction at an index of the output of tail. */
const timeAt = async (index: number): Promise<{ readonly time: string; readonly from: number }> => {
  const { out } = await world.tail('--to', String(world.sandbox.ledgerEnd));
  const lines = parseLines(out.text()).filter(({ recordTime }) => typeof recordTime === 'string');
  const at = lines[index];
  return { time: String(at?.['recordTime']), from: Number(at?.['offset']) };
};

describe('tail -n', () => {
  it.each([0, 1, 7, 150, 100_000])('prints the last %d updates of the selection', async (count) => {
    const all = await offsetsOf(...isTransaction);
    expect(await offsetsOf(...isTransaction, '-n', String(count))).toEqual(count === 0 ? [] : all.slice(-count));
  });

  it('begins at the earliest update of a pruned ledger', async () => {
    world.sandbox.prune(250);
    const all = await offsetsOf('--from', '250');
    expect(await offsetsOf('-n', '5000')).toEqual(all);
  });
});

describe('tail --since', () => {
  it.each([0, 1, 120, 180])('begins with the first update of that time: the one of index %d', async (index) => {
    await world.restart({ synchronizers: ['one::1220ab'] });
    const { time, from } = await timeAt(index);
    const offsets = await offsetsOf('--since', time);
    const times = world.sandbox.updates.flatMap((update) => {
      const value: object = updateValue(update);
      return 'recordTime' in value ? [[Date.parse(String(value.recordTime)), updateValue(update).offset] as const] : [];
    });
    const first = times.find(([at]) => at >= Date.parse(time))?.[1];
    expect(offsets[0]).toBe(first);
    expect(first).toBeLessThanOrEqual(from);
  });

  it('prints nothing of a ledger that ends before', async () => {
    expect(await offsetsOf('--since', '2999-01-01')).toEqual([]);
  });

  it('begins where both are met, with -n', async () => {
    expect(await offsetsOf('--since', '1999-01-01', '-n', '3')).toEqual((await offsetsOf()).slice(-3));
    expect(await offsetsOf('--since', '2999-01-01', '-n', '3')).toEqual([]);
  });
});

describe('replay', () => {
  it('resumes a file that was started with -n, however far the ledger is then, and refuses another -n', async () => {
    const out = join(world.folder, 'last.ndjson');
    const replay = async (...options: readonly string[]) => {
      const run = world.start(['replay', '--out', out, ...options]);
      return { code: await run.code, err: run.err.text() };
    };
    expect(await replay('-n', '4')).toMatchObject({ code: 0 });
    expect(parseLines(readFileSync(out, 'utf8'))).toHaveLength(4);
    world.sandbox.generate(20);
    expect(await replay('-n', '4')).toMatchObject({ code: 0 });
    expect(await replay('-n', '5')).toMatchObject({
      code: 2,
      err: expect.stringContaining('another --since or --count'),
    });
    expect(await replay()).toMatchObject({ code: 2 });
  });
});
