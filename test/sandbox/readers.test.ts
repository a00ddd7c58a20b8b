import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Sandbox, UpdateVariant, WireUpdateInput } from '../../src/sandbox/index.js';
import { contractHistories, entriesAt, type HistoryUpdate } from '../helpers/contractHistory.js';
import { effort } from '../helpers/effort.js';
import { at, listAt, post, sandboxWith, stream, streamToEnd } from './client.js';
import {
  acsDelta,
  anyParty,
  assetId,
  contractsPath,
  flatsPath,
  forParty,
  ledgerEffects,
  list,
  page,
  template,
  updatesPath,
} from './requests.js';

/** What two snapshots must have in common: all but the tokens, and the node ids of unassignments, which the model leaves out. */
const entries = (elements: readonly unknown[]): readonly unknown[] =>
  elements.map((element) => {
    const entry = at(element, 'contractEntry');
    const { createdEvent, unassignedEvent } = Object(at(entry, 'JsIncompleteUnassigned')) as Record<string, object>;
    return unassignedEvent ? { createdEvent, unassignedEvent: { ...unassignedEvent, nodeId: undefined } } : entry;
  });

/** Reads a list in parts of this size. */
async function readParts(sandbox: Sandbox, activeAtOffset: number, size: number): Promise<readonly unknown[]> {
  const elements: unknown[] = [];
  for (;;) {
    const streamContinuationToken = at(elements.at(-1), 'streamContinuationToken');
    const part = listAt((await list(sandbox, { activeAtOffset, streamContinuationToken }, `?limit=${size}`)).json);
    elements.push(...part);
    if (part.length < size) return elements;
  }
}

/** Reads pages of this size. */
async function readPages(sandbox: Sandbox, activeAtOffset: number, maxPageSize: number): Promise<readonly unknown[]> {
  const elements: unknown[] = [];
  let pageToken: unknown;
  do {
    const { json } = await page(sandbox, { activeAtOffset, maxPageSize, pageToken });
    elements.push(...listAt(json, 'activeContracts'));
    pageToken = at(json, 'nextPageToken');
  } while (pageToken !== null);
  return elements;
}

async function readStream(sandbox: Sandbox, activeAtOffset: number): Promise<readonly unknown[]> {
  const body = { activeAtOffset, eventFormat: anyParty };
  return (await streamToEnd(sandbox, body, { path: contractsPath })).messages;
}

const histories = fc.record({ history: contractHistories(), choice: fc.nat(), size: fc.integer({ min: 1, max: 4 }) });

/** Starts the sandbox again with a history. Returns a random offset in it. */
function replay(sandbox: Sandbox, history: readonly HistoryUpdate[], choice: number): number {
  sandbox.restore(0);
  sandbox.append(...history.map(({ element }) => at(element, 'update') as WireUpdateInput));
  return choice % (1 + (history.at(-1)?.offset ?? 0));
}

describe('a snapshot of a random history', () => {
  it('is what the history leaves at its offset, whole, in parts, in pages and as a stream', async () => {
    const sandbox = await sandboxWith({ maxListElements: 1000 });
    await fc.assert(
      fc.asyncProperty(histories, async ({ history, choice, size }) => {
        const offset = replay(sandbox, history, choice);
        const expected = entries(entriesAt(history, offset));
        expect(entries(await readParts(sandbox, offset, 1000))).toEqual(expected);
        expect(entries(await readParts(sandbox, offset, size))).toEqual(expected);
        if (offset > 0) expect(entries(await readPages(sandbox, offset, size))).toEqual(expected);
        if (size === 1) expect(entries(await readStream(sandbox, offset))).toEqual(expected);
      }),
      { numRuns: effort(60, 1500) },
    );
  });
});

/** Update formats for the parties and shapes of a sandbox. */
const selections = fc.record({
  party: fc.option(fc.nat({ max: 9 })),
  filter: fc.option(fc.constantFrom(template(assetId), template('#sandbox-tasks:Tasks.Model:Task'))),
  shape: fc.constantFrom(acsDelta, ledgerEffects),
  transactions: fc.boolean(),
  reassignments: fc.boolean(),
  topology: fc.boolean(),
  legacy: fc.boolean(),
});

type Selection = typeof selections extends fc.Arbitrary<infer A> ? A : never;

const ledgers = fc.record({
  seed: fc.nat({ max: 1000 }),
  count: fc.nat({ max: 150 }),
  gap: fc.nat({ max: 5 }),
  variants: fc.subarray<UpdateVariant>(['Transaction', 'Reassignment', 'TopologyTransaction'], { minLength: 1 }),
});

function formatOf({ parties }: Sandbox, { party, filter, shape, ...selected }: Selection) {
  const filters = filter === null ? [] : [filter];
  const events = party === null ? anyParty : forParty(parties[party % parties.length] ?? '', ...filters);
  if (selected.legacy) return { filter: events };
  return {
    updateFormat: {
      ...(selected.transactions && { includeTransactions: shape(events) }),
      ...(selected.reassignments && { includeReassignments: events }),
      ...(selected.topology && { includeTopologyEvents: { includeParticipantAuthorizationEvents: { parties: [] } } }),
    },
  };
}

describe('the updates of a WebSocket', () => {
  it('are those of a list, for any ledger, range and filter, and so is their error', async () => {
    let compared = 0;
    await fc.assert(
      fc.asyncProperty(
        ledgers,
        selections,
        fc.nat({ max: 160 }),
        fc.nat({ max: 160 }),
        fc.nat({ max: 100 }),
        fc.boolean(),
        fc.constantFrom(updatesPath, flatsPath),
        async ({ seed, count, gap, variants }, selection, begin, length, pruned, descendingOrder, path) => {
          const sandbox = await sandboxWith({ maxListElements: 10_000 });
          sandbox.generate(count, { seed, variants });
          sandbox.advance(gap);
          sandbox.prune(Math.min(pruned < 70 ? 0 : pruned - 70, sandbox.ledgerEnd));
          const endInclusive = begin + length;
          const body = { beginExclusive: begin, endInclusive, descendingOrder, ...formatOf(sandbox, selection) };
          const headers = { traceparent: `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-01` };
          const { json } = await post(sandbox, path, body, { headers });
          const { messages } = await streamToEnd(sandbox, body, { path, headers });
          // an error in the middle replaces the whole list
          expect(Array.isArray(json) ? messages : messages.at(-1)).toEqual(json);
          compared += Array.isArray(json) ? json.length : 0;
          await sandbox.close();
        },
      ),
      { numRuns: effort(60, 120) },
    );
    expect(compared).toBeGreaterThan(effort(0, 100));
  });

  it('are those of a list if the ledger grows meanwhile', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(ledgers, { minLength: 1, maxLength: 4 }),
        selections,
        fc.nat({ max: 20 }),
        async (parts, selection, beginExclusive) => {
          const sandbox = await sandboxWith({ maxListElements: 10_000, earlyCheckpointMs: false });
          sandbox.advance(beginExclusive);
          const request = { beginExclusive, ...formatOf(sandbox, selection) };
          const client = await stream(sandbox, request);
          for (const { seed, count, gap, variants } of parts) {
            sandbox.generate(Math.min(count, 30), { seed, variants });
            sandbox.advance(gap);
            await new Promise(setImmediate);
          }
          const { json } = await post(sandbox, updatesPath, { ...request, endInclusive: sandbox.ledgerEnd });
          if (Array.isArray(json)) expect(await client.received(json.length)).toEqual(json);
          else expect(await client.received(1)).toMatchObject([{ code: expect.any(String) }]);
          await sandbox.close();
        },
      ),
      { numRuns: effort(30, 60) },
    );
  });
});
