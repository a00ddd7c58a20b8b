import { describe, expect, it } from '@jest/globals';
import { takeUntil, timer, type Observable } from 'rxjs';
import type { Update } from '../../src/codecs/Update.js';
import type { Ledger } from '../../src/ledger/Ledger.js';
import { observe, offsets } from '../helpers/observe.js';
import { updateFormat, world } from '../helpers/world.js';
import { invalid, ok, unknownVariant, transaction } from '../helpers/wire.js';
import { itInVirtualTime, marbles } from '../helpers/time.js';

describe('an update that does not decode', () => {
  itInVirtualTime(
    'ends the feed by default, after everything before it, with its offset and the paths (G10)',
    ({ flush }) => {
      const { ledger, feed } = world({ latencyMs: 5 });
      ledger.append(1, transaction(1));
      ledger.append(2, invalid(2));
      ledger.append(3, transaction(3));
      const seen = observe(feed());
      flush();
      expect(offsets(seen.values)).toEqual([1]);
      expect(seen.error).toMatchObject({ _tag: 'DecodeError', offset: 2, path: '/v2/updates/flats' });
      expect(String(seen.error)).toContain('update.Transaction.value.synchronizerId: expected string');
      expect(String(seen.error)).not.toContain('secret payload');
    },
  );

  itInVirtualTime("is emitted with onUndecodable: 'emit', and the feed continues (G10)", ({ flush }) => {
    const { ledger, client } = world({ latencyMs: 5 });
    ledger.append(1, transaction(1));
    ledger.append(2, invalid(2));
    const seen = observe(
      client.updates({ beginExclusive: 0, updateFormat }, { onUndecodable: 'emit' }).pipe(takeUntil(timer(10_000))),
    );
    timer(2_000).subscribe(() => {
      ledger.append(3, invalid(3));
    });
    timer(4_000).subscribe(() => {
      ledger.append(4, unknownVariant(4));
    });
    flush();
    expect(seen.values.map(({ _tag, offset }) => [_tag, offset])).toEqual([
      ['Transaction', 1],
      ['UndecodedUpdate', 2],
      ['UndecodedUpdate', 3],
      ['UnknownUpdate', 4],
    ]);
    expect(seen.error).toBeUndefined();
  });

  const noOffset = { update: { Novelty: { value: { noOffset: true } } } };
  const twoVariants = { update: { A: {}, B: {} } };
  it.each([null, 'frame', 7, [], {}, { update: {} }, twoVariants, noOffset])(
    'always ends the feed if it has no offset: %j',
    (element) => {
      marbles(({ flush }) => {
        const { client } = world({
          fault: ({ path }) => (path.endsWith('/ledger-end') ? ok({ offset: 3 }) : ok([transaction(1), element])),
        });
        const seen = observe(client.updates({ beginExclusive: 0, updateFormat }, { onUndecodable: 'emit' }));
        flush();
        expect(offsets(seen.values)).toEqual([1]);
        expect(seen.error).toMatchObject({ _tag: 'DecodeError' });
        expect(seen.error).toHaveProperty('offset', undefined);
      });
    },
  );
});

describe('an answer', () => {
  it.each([
    ['goes backwards', [transaction(5), transaction(3)]],
    ['leads nowhere', [transaction(0)]],
  ])('that %s ends the feed with an OrderError, and none of it is emitted', (_, elements) => {
    marbles(({ flush }) => {
      const { ledger, feed, service } = world({
        latencyMs: 5,
        fault: ({ path }) =>
          path.startsWith('/v2/updates') ? { status: 200, headers: {}, text: JSON.stringify(elements) } : undefined,
      });
      ledger.append(5, transaction(5));
      const seen = observe(feed());
      flush();
      expect(seen.values).toEqual([]);
      expect(seen.error).toMatchObject({ _tag: 'OrderError' });
      expect(service.requests).toHaveLength(2);
    });
  });
});

describe('an invalid request', () => {
  const requests: readonly (readonly [string, (ledger: Ledger) => Observable<Update>])[] = [
    // @ts-expect-error -- the compiler refuses it as well
    ['both formats', (ledger) => ledger.updates({ beginExclusive: 0, updateFormat, verbose: false })],
    [
      'descending without an end',
      // @ts-expect-error -- the compiler refuses it as well
      (ledger) => ledger.updates({ beginExclusive: 0, updateFormat, descendingOrder: true }),
    ],
    // @ts-expect-error -- the compiler refuses it as well
    ['a misspelt field', (ledger) => ledger.updates({ beginExclusive: 0, updateFormt: updateFormat })],
    ['an end before the begin', (ledger) => ledger.updates({ beginExclusive: 5, endInclusive: 4, updateFormat })],
    ['a negative begin', (ledger) => ledger.updates({ beginExclusive: -1, updateFormat })],
    ['a begin beyond 2^53', (ledger) => ledger.updates({ beginExclusive: 2 ** 53, updateFormat })],
  ];

  it.each(requests)('is refused before anything is sent: %s', (_, updatesOf) => {
    marbles(({ flush }) => {
      const { client, service } = world();
      const seen = observe(updatesOf(client));
      flush();
      expect(seen.error).toMatchObject({ _tag: 'InvalidRequestError' });
      expect(service.requests).toEqual([]);
    });
  });
});
