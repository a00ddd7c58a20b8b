import { createHash } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { lastValueFrom, toArray } from 'rxjs';
import { ledgerEffects } from '../../../src/codecs/UpdateFormat.js';
import { createLedger } from '../../../src/ledger/createLedger.js';
import { type Fault, type Sandbox, startSandbox } from '../../../src/sandbox/index.js';
import { updateValue } from '../../../src/sandbox/wire/WireUpdate.js';
import { type Parameters, print, type Source } from './crashes.js';

/** A ledger with updates and continuous faults. */
export interface World extends Source {
  readonly sandbox: Sandbox;
  /** Ends the faults; some may still be queued. */
  readonly endFaults: () => Promise<void>;
  /** Ends the faults, and reads the whole ledger. */
  readonly entries: () => Promise<readonly Entry[]>;
  readonly close: () => Promise<void>;
}

/** An update in the form in which it is compared. */
export interface Entry {
  readonly offset: number;
  readonly updateId: string;
  readonly hash: string;
}

/** A random fault of a kind that does not end a feed. */
function randomFault(random: () => number): Fault {
  const upTo = (most: number): number => Math.floor(random() * most);
  const faults: readonly (() => Fault)[] = [
    () => ({ kind: 'reset', when: 'before' }),
    () => ({ kind: 'reset', when: 'after' }),
    () => ({ kind: 'truncate', bytes: upTo(200_000), how: 'close' }),
    () => ({ kind: 'truncate', bytes: upTo(200_000), how: 'reset' }),
    () => ({ kind: 'truncate', bytes: upTo(100), how: 'close' }),
    () => ({ kind: 'status', status: 503, body: 'The server is overloaded' }),
    () => ({ kind: 'status', status: 429, headers: { 'retry-after': '0' } }),
    () => ({ kind: 'status', status: 502, body: '<html>Bad Gateway</html>', contentType: 'text/html' }),
    () => ({ kind: 'delay', ms: upTo(40) }),
    () => ({ kind: 'delay', ms: upTo(10) }),
    // costs a request timeout
    () => (random() < 0.2 ? { kind: 'stall', bytes: upTo(50_000) } : { kind: 'delay', ms: 1 }),
  ];
  return faults[upTo(faults.length)]?.() ?? { kind: 'reset' };
}

export async function world({ updates, seed, random }: Parameters): Promise<World> {
  const sandbox = await startSandbox();
  let grown = 0;
  let made = 0;
  let faults = 0;
  let restarts = 0;
  let isOver = false;
  const injectFaults = async (): Promise<void> => {
    let seen = 0;
    while (!isOver) {
      await setTimeout(5);
      for (; seen < sandbox.requests.length; seen += 1) {
        if (random() > 0.25) continue;
        faults += 1;
        sandbox.fault(randomFault(random), { path: /^\/v2\//, after: Math.floor(random() * 4) });
      }
      if (random() > 0.002) continue;
      restarts += 1;
      await sandbox.restart({ downMs: Math.floor(random() * 30) });
    }
  };
  const injection = injectFaults();
  const endFaults = async (): Promise<void> => {
    isOver = true;
    await injection;
  };
  return {
    sandbox,
    grow: (share) => {
      grown = Math.min(1, grown + share);
      const count = Math.round(grown * updates) - made;
      made += count;
      if (count > 0) sandbox.generate(count, { seed });
    },
    end: () => sandbox.ledgerEnd,
    endFaults,
    entries: async () => {
      await endFaults();
      print(`the ledger: ${made} updates, ${sandbox.requests.length} requests, ${faults} faults, ${restarts} restarts`);
      // some faults are still queued
      const ledger = createLedger({ baseUrl: sandbox.url, requestTimeoutMs: 500, retry: { baseDelayMs: 1 } });
      const request = { beginExclusive: 0, endInclusive: sandbox.ledgerEnd };
      const updateFormat = ledgerEffects({ parties: 'any' });
      const read = await lastValueFrom(ledger.updates({ ...request, updateFormat }).pipe(toArray()));
      const entries = read.flatMap((update) => {
        if (!('updateId' in update)) return [];
        const { offset, updateId } = update;
        return [{ offset, updateId, hash: createHash('sha256').update(JSON.stringify(update)).digest('hex') }];
      });
      // compared with the sandbox's own list, without the library
      const committed = sandbox.updates.map((update) => {
        const { offset, updateId } = updateValue(update);
        return `${offset} ${updateId}`;
      });
      if (committed.join() !== entries.map(({ offset, updateId }) => `${offset} ${updateId}`).join())
        throw new Error('the library did not read the ledger as it is');
      return entries;
    },
    close: async () => {
      await endFaults();
      await sandbox.close();
    },
  };
}
