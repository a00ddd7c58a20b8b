import process from 'node:process';
import { setTimeout } from 'node:timers/promises';
import type { UpdatesOptions } from '../../../src/index.js';
import type { Kind } from './ledgerText.js';

/** The work of a variant. */
export interface Load {
  /** The ledger's address, for variants that read one. */
  readonly url: string;
  /** The database's address, for variants that write to one. */
  readonly databaseUrl: string;
  /** The address of the NATS server, for variants that publish to one or read from one. */
  readonly natsUrl: string;
  readonly kind: Kind;
  /** How many updates; or pages, if pages are measured. */
  readonly count: number;
  readonly step: number;
  /** The client of HTTP by which the library's feed reads. */
  readonly port: 'ky' | 'undici';
  readonly options: UpdatesOptions & { readonly parallelRanges?: number };
  /** How long the consumer keeps the processor busy for each update. */
  readonly busyUs: number;
}

/** The result of a variant. */
export interface Outcome {
  /** Microseconds for each update, or another figure that the line compares. */
  readonly cost: number;
  /** Further figures. */
  readonly figures?: Readonly<Record<string, number>>;
  /** When each update arrived, in milliseconds of the machine's clock. */
  readonly arrivedAt?: readonly number[];
}

/** Runs a variant. */
export type Measure = (load: Load) => Promise<Outcome>;

/** The load of a variant that needs none. */
export const plainLoad: Load = {
  url: '',
  databaseUrl: '',
  natsUrl: '',
  kind: 'tx',
  count: 0,
  step: 1,
  port: 'ky',
  options: {},
  busyUs: 0,
};

/** Measures the time for each of `total` things, without the first tenth, in which the compiler is still at work. */
export interface Stopwatch {
  readonly add: (count: number) => void;
  /** Microseconds for each. */
  readonly each: () => number;
  readonly count: () => number;
}

/** A stopwatch that starts after the first tenth. */
export function stopwatch(total: number): Stopwatch {
  const warm = Math.floor(total / 10);
  let count = 0;
  let countAtStart = 0;
  let startedAt = warm === 0 ? performance.now() : NaN;
  let lastAt = NaN;
  return {
    add: (more) => {
      const before = count;
      count += more;
      if (before < warm && count >= warm) {
        countAtStart = count;
        startedAt = performance.now();
      }
      if (count >= total) lastAt = performance.now();
    },
    each: () => {
      if (count < total) throw new Error(`only ${count} of ${total} came`);
      return ((lastAt - startedAt) * 1_000) / (count - countAtStart);
    },
    count: () => count,
  };
}

/** The machine's clock in milliseconds, with fractions; the same in all processes. */
export const clock = (): number => performance.timeOrigin + performance.now();

/** Keeps the processor busy. */
export function burn(us: number): void {
  const until = performance.now() + us / 1_000;
  while (performance.now() < until);
}

/** A feed is quiet after two polls without an update. */
const settleMs = 15_000;
const measureMs = 30_000;

/** The share of a processor that this process uses while nothing happens, in percent. */
export async function idleShare(): Promise<number> {
  await setTimeout(settleMs);
  const before = process.cpuUsage();
  const startedAt = performance.now();
  await setTimeout(measureMs);
  const { user, system } = process.cpuUsage(before);
  return ((user + system) / 1_000 / (performance.now() - startedAt)) * 100;
}
