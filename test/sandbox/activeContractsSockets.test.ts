import { describe, expect, it } from '@jest/globals';
import type { Sandbox } from '../../src/sandbox/index.js';
import { at, sandboxWith } from './client.js';
import { anyParty } from './requests.js';
import { creations, list, outline, path, unassign } from './snapshots.js';
import { stream } from './webSockets.js';

const open = (sandbox: Sandbox, fields: object = {}) =>
  stream(sandbox, { activeAtOffset: sandbox.ledgerEnd, eventFormat: anyParty, ...fields }, { path });

async function sandboxWithFour() {
  const sandbox = await sandboxWith({ maxListElements: 4 });
  sandbox.append(...creations('00aa', '00bb', '00cc', '00dd'), unassign('00bb'));
  return sandbox;
}

describe('a stream of the active contracts', () => {
  it('may be empty, and has no limit', async () => {
    const sandbox = await sandboxWith({ maxListElements: 2 });
    const empty = await open(sandbox);
    expect(await empty.closed).toBe(1000);
    expect(empty.texts).toEqual([]);
    sandbox.append(...creations(...Array.from({ length: 300 }, (_, index) => `00${index}`)));
    const client = await open(sandbox);
    expect(await client.closed).toBe(1000);
    expect(client.messages).toHaveLength(300);
  });

  it('continues a list, and a list continues it', async () => {
    const sandbox = await sandboxWithFour();
    const elements = (await list(sandbox)).json;
    const streamContinuationToken = at(elements, 1, 'streamContinuationToken');
    const client = await open(sandbox, { streamContinuationToken });
    expect(await client.closed).toBe(1000);
    expect(outline(client.messages)).toEqual(outline(elements).slice(2));
    const token = at(client.messages, 0, 'streamContinuationToken');
    const { json } = await list(sandbox, { streamContinuationToken: token });
    expect(outline(json)).toEqual(outline(elements).slice(3));
  });

  it('ends with an error when its offset is pruned in the middle', async () => {
    const sandbox = await sandboxWithFour();
    sandbox.append(...creations('00ee'));
    const body = (element: unknown) => {
      if (JSON.stringify(element).includes('00cc')) sandbox.prune(6);
      return element;
    };
    sandbox.fault({ kind: 'rewrite', body }, { path });
    const client = await open(sandbox, { activeAtOffset: 5 });
    expect(await client.closed).toBe(1000);
    expect(outline(client.messages.slice(0, 2))).toEqual(['ActiveContract 00aa sync1', 'ActiveContract 00cc sync1']);
    expect(client.messages.slice(2)).toMatchObject([{ code: 'PARTICIPANT_PRUNED_DATA_ACCESSED' }]);
  });

  it.each([
    ['in the middle', '00cc', 2],
    ['after the last element', '00bb', 4],
  ])('is not complete when the ledger is restored %s', async (_, contractId, count) => {
    const sandbox = await sandboxWithFour();
    const body = (element: unknown) => {
      if (outline([element])[0]?.includes(contractId) === true) sandbox.restore(2);
      return element;
    };
    sandbox.fault({ kind: 'rewrite', body }, { path });
    const client = await open(sandbox);
    expect(await client.closed).toBe(1011);
    expect(client.messages).toHaveLength(count);
  });

  it.each([
    [{ activeAtOffset: 9 }, 'OFFSET_AFTER_LEDGER_END'],
    [{ activeAtOffset: -1 }, 'NEGATIVE_OFFSET'],
    [{ eventFormat: null }, 'INVALID_ARGUMENT'],
    [{ streamContinuationToken: '' }, 'INVALID_CONTINUATION_TOKEN'],
  ])('with %j has one error and then closes', async (fields, code) => {
    const client = await open(await sandboxWithFour(), fields);
    expect(await client.closed).toBe(1000);
    expect(client.messages).toMatchObject([{ code }]);
  });
});
