import process from 'node:process';
import { setTimeout as wait } from 'node:timers/promises';
import { randomFrom } from '../../campaign/randomFrom.js';
import type { World } from '../../crash/world.js';
import type { Ending, Service } from './service.js';

const { CANTON_RX_NEST_SEED: seed, CANTON_RX_NEST_KILLS: kills } = process.env;

/** How often the service is ended, over how many updates, and by which seed; the environment may say otherwise. */
export function parametersOf(inCi: { kills: number; updates: number }) {
  const chosen = {
    kills: kills === undefined ? inCi.kills : Number(kills),
    updates: inCi.updates,
    seed: seed === undefined ? Math.trunc(Math.random() * 2 ** 31) : Number(seed),
  };
  process.stdout.write(`nest: ${chosen.kills} ends over ${chosen.updates} updates, seed ${chosen.seed}\n`);
  return { ...chosen, random: randomFrom(chosen.seed), timeoutMs: 60_000 + chosen.kills * 5_000 };
}

/** What became of those that were asked to end. */
export interface Kills {
  readonly kills: number;
  readonly terms: readonly (Ending & { readonly wasListening: boolean; readonly logs: string })[];
}

/** The most that one lives: from its start, from when it listens, and from when it has updates to work on; in milliseconds. */
const mostMs = { early: 600, late: 400, working: 60 };

/** A fourth of the moments is while it starts, but not the first; half of them are while it works, and the others anywhere. */
async function moment({ ready, atWork }: Service, random: () => number, isFirst: boolean): Promise<void> {
  const [kind, when] = [random(), random()];
  if (kind < 0.25 && !isFirst) return wait(when * mostMs.early);
  if (kind < 0.75) {
    await atWork();
    return wait(when * mostMs.working);
  }
  await ready();
  return wait(when * mostMs.late);
}

/**
 * Ends the service again and again, in turn by a signal that asks and by one that does not, at random moments; each time
 * the ledger grows, and the next one is started at once. Leaves the last one running.
 */
export async function killing(
  start: () => Promise<Service>,
  { grow }: World,
  { kills, random }: { kills: number; random: () => number },
): Promise<Kills & { readonly last: Service }> {
  const terms: Kills['terms'][number][] = [];
  grow(0.25);
  let one = await start();
  for (let done = 0; done < kills; done += 1) {
    await moment(one, random, done === 0);
    const wasListening = one.isListening();
    if (one.isOver()) throw new Error(`it has ended by itself: ${one.logs().slice(-2_000)}`);
    const ending = await one.kill(done % 2 === 0 ? 'SIGTERM' : 'SIGKILL');
    if (done % 2 === 0) terms.push({ ...ending, wasListening, logs: one.logs().slice(-2_000) });
    grow(0.75 / kills);
    one = await start();
  }
  grow(1);
  return { kills, terms, last: one };
}
