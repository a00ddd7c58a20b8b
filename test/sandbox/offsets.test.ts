import { describe, expect, it } from '@jest/globals';
import { everything, post, sandboxWith } from './support.js';

/** Ledger end 40, pruned up to 25. */
async function prunedSandbox() {
  const sandbox = await sandboxWith();
  sandbox.advance(40);
  sandbox.prune(25);
  return sandbox;
}

describe('the offsets of a request', () => {
  it.each([
    [{ beginExclusive: -1 }, 'NEGATIVE_OFFSET', 8, undefined],
    [{ beginExclusive: 30, endInclusive: 0 }, 'NON_POSITIVE_OFFSET', 8, undefined],
    [{ beginExclusive: 41 }, 'OFFSET_AFTER_LEDGER_END', 12, 'Begin offset (41) is after ledger end (40)'],
    [
      { beginExclusive: 30, endInclusive: 99 },
      'OFFSET_AFTER_LEDGER_END',
      12,
      'End offset (99) is after ledger end (40)',
    ],
    [{ beginExclusive: 35, endInclusive: 30 }, 'OFFSET_OUT_OF_RANGE', 9, undefined],
    [
      { beginExclusive: 11, endInclusive: 40 },
      'PARTICIPANT_PRUNED_DATA_ACCESSED',
      9,
      'Updates request from 12 to 40 precedes pruned offset 25',
    ],
    [{ beginExclusive: 30, descendingOrder: true }, 'DESCENDING_ORDER_MISSING_END', 8, undefined],
  ])('are refused: %j', async (range, code, errorCategory, cause) => {
    const reply = await post(await prunedSandbox(), '/v2/updates', { ...range, updateFormat: everything });
    expect(reply).toMatchObject({ status: 400, json: { code, errorCategory, ...(cause !== undefined && { cause }) } });
  });

  it('are told where the ledger begins after pruning', async () => {
    const reply = await post(await prunedSandbox(), '/v2/updates', { beginExclusive: 0, updateFormat: everything });
    expect(reply.json).toMatchObject({ context: { earliest_offset: '25', category: '9' } });
  });

  it('come with a retry hint when they are beyond the ledger end', async () => {
    const reply = await post(await prunedSandbox(), '/v2/updates', { beginExclusive: 50, updateFormat: everything });
    expect(reply.json).toMatchObject({ grpcCodeValue: 11, retryInfo: '1 second', definiteAnswer: null });
  });

  it.each([
    { beginExclusive: 25, endInclusive: 40 },
    { beginExclusive: 40, endInclusive: 40 },
  ])('may lie on the bounds: %j', async (range) => {
    const reply = await post(await prunedSandbox(), '/v2/updates', { ...range, updateFormat: everything });
    expect(reply).toMatchObject({ status: 200, text: '[]' });
  });
});
