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

/** The most that one lives, in milliseconds from its start, or from when it listens. */
const [early, late] = [600, 700];

/**
 * Ends the service again and again, in turn by a signal that asks and by one that does not, at random moments, a third of
 * them while it starts; each time the ledger grows, and the next one is started at once. Leaves the last one running.
 */
export async function killing(
  start: () => Promise<Service>,
  { grow }: World,
  { kills, random }: { kills: number; random: () => number },
): Promise<Kills & { readonly last: Service }> {
  const terms: (Ending & { wasListening: boolean; logs: string })[] = [];
  grow(0.25);
  let one = await start();
  for (let done = 0; done < kills; done += 1) {
    if (random() < 0.33) await wait(random() * early);
    else {
      await one.ready;
      await wait(random() * late);
    }
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
