import { describe, expect, it } from '@jest/globals';
import { creation, everything, upTo } from './requests.js';
import { offsets, post, sandboxWith } from './client.js';

const updates = '/v2/updates';

describe('a bounded list of updates', () => {
  it('has the updates after the begin up to and including the end, on one line of JSON', async () => {
    const sandbox = await sandboxWith();
    sandbox.append(creation(), creation(), creation(), creation());
    const reply = await post(sandbox, updates, { ...upTo(3), beginExclusive: 1 });
    expect(reply).toMatchObject({ status: 200, type: 'application/json' });
    expect(offsets(reply)).toEqual([2, 3]);
    expect(reply.text).not.toContain('\n');
  });

  it('is empty if the range is empty, and does not wait even with an idle time', async () => {
    const sandbox = await sandboxWith();
    sandbox.advance(5);
    const before = Date.now();
    const path = `${updates}?stream_idle_timeout_ms=60000`;
    const reply = await post(sandbox, path, upTo(5));
    expect(reply.text).toBe('[]');
    expect(Date.now() - before).toBeLessThan(30_000);
  });

  it('has at most as many elements as the limit', async () => {
    const sandbox = await sandboxWith();
    sandbox.append(creation(), creation(), creation());
    const body = upTo(3);
    expect(offsets(await post(sandbox, `${updates}?limit=2`, body))).toEqual([1, 2]);
    expect(offsets(await post(sandbox, `${updates}?limit=0`, body))).toEqual([]);
    expect(offsets(await post(sandbox, `${updates}?limit=-1`, body))).toEqual([]);
  });

  it('is rejected if it exceeds the maximum of the node, even with a greater limit', async () => {
    const sandbox = await sandboxWith({ maxListElements: 2 });
    sandbox.append(creation(), creation(), creation(), creation());
    const body = upTo(4);
    for (const path of [updates, `${updates}?limit=10`]) {
      expect(await post(sandbox, path, body)).toMatchObject({
        status: 413,
        json: {
          code: 'JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED',
          cause: 'The number of matching elements (3) is greater than the node limit (2).',
          errorCategory: 2,
          grpcCodeValue: 10,
          retryInfo: '1 second',
          definiteAnswer: false,
          context: {},
        },
      });
    }
    expect(offsets(await post(sandbox, `${updates}?limit=2`, body))).toEqual([1, 2]);
    sandbox.configure({ maxListElements: 4 });
    expect(offsets(await post(sandbox, updates, body))).toEqual([1, 2, 3, 4]);
  });

  it('has descending order if requested, since 3.5', async () => {
    const sandbox = await sandboxWith();
    sandbox.append(creation(), creation(), creation());
    const body = { ...upTo(3), descendingOrder: true };
    expect(offsets(await post(sandbox, `${updates}?limit=2`, body))).toEqual([3, 2]);
    sandbox.configure({ profile: '3.4' });
    expect(offsets(await post(sandbox, `${updates}?limit=2`, body))).toEqual([1, 2]);
  });

  it('rejects query parameters that are not integers', async () => {
    const sandbox = await sandboxWith();
    for (const name of ['limit', 'stream_idle_timeout_ms']) {
      expect(await post(sandbox, `${updates}?${name}=many`, { beginExclusive: 0 })).toMatchObject({
        status: 400,
        type: 'text/plain; charset=UTF-8',
        text: `Invalid value for: query parameter ${name}`,
      });
    }
  });

  it('is the same at the older path', async () => {
    const sandbox = await sandboxWith();
    sandbox.append(creation());
    expect(offsets(await post(sandbox, '/v2/updates/flats', upTo(1)))).toEqual([1]);
  });
});

/** A sandbox with ledger end 40, pruned up to 25. */
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
  ])('are rejected: %j', async (range, code, errorCategory, cause) => {
    const reply = await post(await prunedSandbox(), '/v2/updates', { ...range, updateFormat: everything });
    expect(reply).toMatchObject({ status: 400, json: { code, errorCategory, ...(cause !== undefined && { cause }) } });
    expect(reply.json).toMatchObject({ retryInfo: errorCategory === 12 ? '1 second' : null, definiteAnswer: null });
    if (errorCategory === 9 && cause !== undefined)
      expect(reply.json).toMatchObject({ context: { earliest_offset: '25', category: '9' } });
  });

  it.each([
    { beginExclusive: 25, endInclusive: 40 },
    { beginExclusive: 40, endInclusive: 40 },
  ])('may be equal to the bounds: %j', async (range) => {
    const reply = await post(await prunedSandbox(), '/v2/updates', { ...range, updateFormat: everything });
    expect(reply).toMatchObject({ status: 200, text: '[]' });
  });
});
