import { describe, expect, it } from '@jest/globals';
import { creation, everything, offsets, post, sandboxWith } from './support.js';

const updates = '/v2/updates';

describe('a bounded list of updates', () => {
  it('holds the updates after the begin up to and including the end, on one line of JSON', async () => {
    const sandbox = await sandboxWith();
    sandbox.append(creation(), creation(), creation(), creation());
    const reply = await post(sandbox, updates, { beginExclusive: 1, endInclusive: 3, updateFormat: everything });
    expect(reply).toMatchObject({ status: 200, type: 'application/json' });
    expect(offsets(reply)).toEqual([2, 3]);
    expect(reply.text).not.toContain('\n');
  });

  it('is empty when nothing is in the range, and ends without waiting even if an idle time is given', async () => {
    const sandbox = await sandboxWith();
    sandbox.advance(5);
    const before = Date.now();
    const path = `${updates}?stream_idle_timeout_ms=60000`;
    const reply = await post(sandbox, path, { beginExclusive: 0, endInclusive: 5, updateFormat: everything });
    expect(reply.text).toBe('[]');
    expect(Date.now() - before).toBeLessThan(30_000);
  });

  it('has at most as many elements as the limit asks for', async () => {
    const sandbox = await sandboxWith();
    sandbox.append(creation(), creation(), creation());
    const body = { beginExclusive: 0, endInclusive: 3, updateFormat: everything };
    expect(offsets(await post(sandbox, `${updates}?limit=2`, body))).toEqual([1, 2]);
    expect(offsets(await post(sandbox, `${updates}?limit=0`, body))).toEqual([]);
    expect(offsets(await post(sandbox, `${updates}?limit=-1`, body))).toEqual([]);
  });

  it('is refused beyond the maximum of the node, and a limit above the maximum does not count', async () => {
    const sandbox = await sandboxWith({ maxListElements: 2 });
    sandbox.append(creation(), creation(), creation(), creation());
    const body = { beginExclusive: 0, endInclusive: 4, updateFormat: everything };
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

  it('descends when asked to, from 3.5 on', async () => {
    const sandbox = await sandboxWith();
    sandbox.append(creation(), creation(), creation());
    const body = { beginExclusive: 0, endInclusive: 3, updateFormat: everything, descendingOrder: true };
    expect(offsets(await post(sandbox, `${updates}?limit=2`, body))).toEqual([3, 2]);
    sandbox.configure({ profile: '3.4' });
    expect(offsets(await post(sandbox, `${updates}?limit=2`, body))).toEqual([1, 2]);
  });

  it('refuses query parameters that are no integers', async () => {
    const sandbox = await sandboxWith();
    for (const name of ['limit', 'stream_idle_timeout_ms']) {
      expect(await post(sandbox, `${updates}?${name}=many`, { beginExclusive: 0 })).toMatchObject({
        status: 400,
        type: 'text/plain; charset=UTF-8',
        text: `Invalid value for: query parameter ${name}`,
      });
    }
  });

  it('is the same under the older path', async () => {
    const sandbox = await sandboxWith();
    sandbox.append(creation());
    const body = { beginExclusive: 0, endInclusive: 1, updateFormat: everything };
    expect(offsets(await post(sandbox, '/v2/updates/flats', body))).toEqual([1]);
  });
});
