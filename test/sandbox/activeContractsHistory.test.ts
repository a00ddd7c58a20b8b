import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Sandbox, WireUpdateInput } from '../../src/sandbox/index.js';
import { contractHistories, entriesAt, type HistoryUpdate } from '../helpers/contractHistory.js';
import { effort } from '../helpers/effort.js';
import { at, listAt, post, sandboxWith } from './client.js';
import { anyParty } from './requests.js';
import { stream } from './webSockets.js';

const path = '/v2/state/active-contracts';

/** The offset of a snapshot of a history with this many updates, as a random number. */
const offsetOf = (history: readonly HistoryUpdate[], choice: number): number =>
  choice % (1 + (history.at(-1)?.offset ?? 0));

/** Makes a sandbox start again with a history. */
function replay(sandbox: Sandbox, history: readonly HistoryUpdate[]): void {
  sandbox.restore(0);
  sandbox.append(...history.map(({ element }) => at(element, 'update') as WireUpdateInput));
}

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
    const body = { activeAtOffset, eventFormat: anyParty, streamContinuationToken };
    const part = listAt((await post(sandbox, `${path}?limit=${size}`, body)).json);
    elements.push(...part);
    if (part.length < size) return elements;
  }
}

/** Reads pages of this size. */
async function readPages(sandbox: Sandbox, activeAtOffset: number, maxPageSize: number): Promise<readonly unknown[]> {
  const elements: unknown[] = [];
  let pageToken: unknown;
  do {
    const body = { activeAtOffset, eventFormat: anyParty, maxPageSize, pageToken };
    const { json } = await post(sandbox, `${path}-page`, body);
    elements.push(...listAt(json, 'activeContracts'));
    pageToken = at(json, 'nextPageToken');
  } while (pageToken !== null);
  return elements;
}

/** Reads a stream to its end. */
async function readStream(sandbox: Sandbox, activeAtOffset: number): Promise<readonly unknown[]> {
  const client = await stream(sandbox, { activeAtOffset, eventFormat: anyParty }, { path });
  expect(await client.closed).toBe(1000);
  return client.messages;
}

const cases = fc.record({ history: contractHistories(), choice: fc.nat(), size: fc.integer({ min: 1, max: 4 }) });

describe('a snapshot of a random history', () => {
  it('is what the history leaves at its offset, whole, in parts and in pages', async () => {
    const sandbox = await sandboxWith({ maxListElements: 1000 });
    await fc.assert(
      fc.asyncProperty(cases, async ({ history, choice, size }) => {
        replay(sandbox, history);
        const offset = offsetOf(history, choice);
        const expected = entries(entriesAt(history, offset));
        expect(entries(await readParts(sandbox, offset, 1000))).toEqual(expected);
        expect(entries(await readParts(sandbox, offset, size))).toEqual(expected);
        if (offset > 0) expect(entries(await readPages(sandbox, offset, size))).toEqual(expected);
      }),
      { numRuns: effort(60, 1500) },
    );
  });

  it('is the same over WebSockets', async () => {
    const sandbox = await sandboxWith();
    await fc.assert(
      fc.asyncProperty(cases, async ({ history, choice }) => {
        replay(sandbox, history);
        const offset = offsetOf(history, choice);
        expect(entries(await readStream(sandbox, offset))).toEqual(entries(entriesAt(history, offset)));
      }),
      { numRuns: effort(20, 300) },
    );
  });
});
