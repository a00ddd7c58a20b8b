import { clearInterval, setInterval } from 'node:timers';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Pool } from 'pg';
import { effort } from '../../helpers/effort.js';
import { canUseMachines, httpGateway, type Machine, noMachines, startMachine } from '../../helpers/network.js';
import { describeWithPgbouncer, pgbouncer } from '../../helpers/pgbouncer.js';
import { type PostgresServer, postgresServer } from '../../helpers/postgresServer.js';
import { bundlePrograms, type Programs } from './Child.js';
import { parameters, print } from './crashes.js';
import { findFlaws } from './flaws.js';
import { type Effect, type Kill, type Kind, Lane } from './Lane.js';
import { world } from './world.js';

/** What is killed in turn, of 60 kills. A lane takes its time in parallel with the others. */
interface Plan {
  readonly kinds: readonly Kind[];
  readonly kills: number;
  readonly isPooled?: boolean;
}

const plans: readonly Plan[] = [
  { kinds: ['process', 'connection'], kills: 20 },
  { kinds: ['pooler', 'pooler', 'pooler', 'connection'], kills: 16, isPooled: true },
  // a pooler hides that a process has ended: the lease expires
  { kinds: ['process', 'suspended process'], kills: 4, isPooled: true },
  ...Array.from({ length: 2 }, (): Plan => ({ kinds: ['suspended process'], kills: 4 })),
  ...Array.from({ length: 3 }, (): Plan => ({ kinds: ['machine'], kills: 4 })),
];

/**
 * The updates that are committed while the campaign runs: how many, how often in milliseconds, and how many times at most. A poll
 * ends when the ledger is quiet, which must be before the request timeout of the processors.
 */
const growth = { updates: 12, everyMs: 600, times: 1_000 };

/** How long a name may be without a leader, in milliseconds. The steps of CI share a slow machine. */
const maxLeaderlessMs = effort(30_000, 30_000, 45_000);

describeWithPgbouncer('a name has one leader', () => {
  const some = parameters(60, 15);
  const chosen = plans.filter(({ kinds }) => canUseMachines || !kinds.includes('machine'));
  const ends: (() => unknown)[] = [];
  const machines: Machine[] = [];
  let programs: Programs | undefined;
  let server: PostgresServer | undefined;

  beforeAll(async () => {
    if (!canUseMachines) print(`leases: no machine vanishes: ${noMachines}`);
    const count = 2 * chosen.filter(({ kinds }) => kinds.includes('machine')).length;
    for (let n = 0; n < count; n += 1) machines.push(await startMachine());
    programs = await bundlePrograms('postgres');
    const addresses = ['127.0.0.1', ...machines.map(({ address }) => address)];
    server = await postgresServer({ listen_addresses: addresses.join(','), track_commit_timestamp: 'on' });
  });
  afterAll(async () => {
    await programs?.remove();
    for (const end of ends.reverse()) await end();
    await server?.stop();
    for (const machine of machines) await machine.remove();
  });

  /** The address of a database. */
  const urlOf = (name: string, url: string, host = '127.0.0.1'): string =>
    `postgres://postgres@${host}:${new URL(url).port}/${name}`;

  const startLane = async (
    { isPooled = false, kinds }: Plan,
    index: number,
    ledgerUrl: string,
    free: Machine[],
  ): Promise<Lane> => {
    if (programs === undefined || server === undefined) throw new Error('nothing is started');
    const { start } = programs;
    const { url } = server;
    const name = `lane${index}`;
    const admin = new Pool({ connectionString: url });
    await admin.query(`CREATE DATABASE ${name}`);
    await admin.end();
    const pool = new Pool({ connectionString: urlOf(name, url), max: 2 });
    pool.on('error', () => undefined);
    ends.push(() => pool.end());
    await Lane.createTable(pool);
    const pooler = isPooled ? await pgbouncer(url, { pool_mode: 'transaction' }) : undefined;
    if (pooler !== undefined) ends.push(() => pooler.stop());
    const both = kinds.includes('machine') ? free.splice(0, 2) : [];
    const gateways = await Promise.all(both.map(({ address }) => httpGateway(ledgerUrl, address)));
    for (const gateway of gateways) ends.push(() => gateway.close());
    return new Lane(
      name,
      pool,
      some.random,
      (life, machine) =>
        start(
          'postgres',
          {
            ledgerUrl: machine === undefined ? ledgerUrl : (gateways[both.indexOf(machine)]?.url ?? ''),
            storeUrl: urlOf(name, pooler?.url ?? url, machine?.address),
            life,
            commitEvery: 10,
            pollMs: 250,
            // beside many others, on a machine with few cores
            requestTimeoutMs: 3_000,
          },
          machine?.command,
        ),
      both,
      pooler,
    );
  };

  it(
    'whatever is killed: process, connection, pooler or machine (G36)',
    async () => {
      const begunAt = performance.now();
      const given = await world({ ...some, updates: growth.updates * growth.times });
      await given.endFaults();
      const growing = setInterval(() => {
        given.grow(1 / growth.times);
      }, growth.everyMs);
      ends.push(given.close, () => {
        clearInterval(growing);
      });
      const free = [...machines];
      const lanes = await Promise.all(chosen.map((plan, index) => startLane(plan, index, given.sandbox.url, free)));
      await Promise.all(
        chosen.map(async ({ kinds, kills }, index) => {
          const count = Math.max(1, Math.round((kills * some.kills) / 60));
          for (let n = 0; n < count; n += 1) await lanes[index]?.kill(kinds[n % kinds.length] ?? 'process');
        }),
      );
      clearInterval(growing);
      const entries = await given.entries();
      const effects = await Promise.all(lanes.map((lane) => allEffects(lane, entries.length)));
      for (const lane of lanes) lane.end();
      report(
        lanes.flatMap(({ kills }) => kills),
        effects,
        performance.now() - begunAt,
      );
      for (const each of effects) {
        expect(findFlaws(entries, each)).toEqual([]);
        expect(findRivals(each)).toEqual([]);
        expect(longestGapMs(each)).toBeLessThan(maxLeaderlessMs);
      }
      for (const lane of lanes)
        expect(lane.kills.filter(({ leaderlessMs }) => leaderlessMs >= maxLeaderlessMs)).toEqual([]);
    },
    some.timeoutMs,
  );
});

/** The effects of a lane once it has reached the end of the ledger. */
async function allEffects(lane: Lane, count: number): Promise<readonly Effect[]> {
  const end = performance.now() + maxLeaderlessMs;
  for (;;) {
    const effects = await lane.effects();
    if (effects.length >= count || performance.now() > end) return effects;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/**
 * Where two leaders have committed at the same time: a fencing token is that of one process, and once a higher one is committed,
 * no lower one is, in the order of the inserts and in that of the commits.
 */
function findRivals(effects: readonly Effect[]): readonly string[] {
  const lives = new Map<number, number>();
  const rivals: string[] = [];
  let before = effects[0];
  for (const effect of effects) {
    const { fence, life, offset, committedAt } = effect;
    if ((lives.get(fence) ?? life) !== life)
      rivals.push(`${offset}: lives ${lives.get(fence) ?? ''} and ${life} have ${fence}`);
    if (before !== undefined && fence < before.fence) rivals.push(`${offset}: ${fence} after ${before.fence}`);
    if (before !== undefined && committedAt < before.committedAt)
      rivals.push(`${offset}: committed before the one before`);
    lives.set(fence, life);
    before = effect;
  }
  return rivals.slice(0, 5);
}

/** The longest time without a commit. */
const longestGapMs = (effects: readonly Effect[]): number =>
  Math.max(...effects.slice(1).map(({ committedAt }, index) => committedAt - (effects[index]?.committedAt ?? 0)));

/** Prints how often each kind was killed, and the longest times without a leader. */
function report(kills: readonly Kill[], effects: readonly (readonly Effect[])[], tookMs: number): void {
  const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
  const byKind = new Map<Kind, number[]>();
  for (const { kind, leaderlessMs } of kills) byKind.set(kind, [...(byKind.get(kind) ?? []), leaderlessMs]);
  const lines = [...byKind].map(([kind, times]) => `${kind} ${times.length} (at most ${seconds(Math.max(...times))})`);
  const leaders = effects.reduce((sum, each) => sum + new Set(each.map(({ fence }) => fence)).size, 0);
  const longest = seconds(Math.max(...effects.map(longestGapMs)));
  const total = effects.reduce((sum, each) => sum + each.length, 0);
  print(`leases: ${kills.length} kills in ${seconds(tookMs)}, until a leader committed: ${lines.join(', ')}`);
  print(`leases: ${leaders} leaders committed ${total} effects; the longest time without a commit was ${longest}`);
}
