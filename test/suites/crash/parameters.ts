import process from 'node:process';
import { randomFrom } from '../campaign/randomFrom.js';

const { CANTON_RX_CRASH_KILLS: kills, CANTON_RX_CRASH_UPDATES: updates, CANTON_RX_CRASH_SEED: seed } = process.env;

/** How much a crash test does. */
export interface Parameters {
  readonly kills: number;
  readonly updates: number;
  readonly seed: number;
  readonly random: () => number;
  readonly timeoutMs: number;
}

/**
 * How often processes are killed, over how many updates, and by which seed; the environment may say otherwise:
 * `CANTON_RX_CRASH_KILLS=500 npm run crash`. The seed chooses the traffic, the faults and the moments, but how far a process
 * has come by then is up to the machine.
 */
export function parameters(inCi: number): Parameters {
  const chosen = {
    kills: kills === undefined ? inCi : Number(kills),
    updates: updates === undefined ? 20_000 : Number(updates),
    seed: seed === undefined ? Math.trunc(Math.random() * 2 ** 31) : Number(seed),
  };
  print(`${chosen.kills} kills over ${chosen.updates} updates, seed ${chosen.seed}`);
  return { ...chosen, random: randomFrom(chosen.seed), timeoutMs: 120_000 + chosen.kills * 3_000 };
}

/** Tells what was measured, past jest. */
export const print = (line: string): void => {
  process.stdout.write(`crash: ${line}\n`);
};
