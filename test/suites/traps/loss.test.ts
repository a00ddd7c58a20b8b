/** Mistakes of other clients of this ledger: updates that are missing without an error. */
import { describe, expect, it } from '@jest/globals';
import { map, takeUntil, timer, type Observable } from 'rxjs';
import { sample } from '../../codecs/support.js';
import { observe, offsets } from '../../helpers/observe.js';
import type { ServiceRequest, Reply } from '../../helpers/scripted.js';
import { fill, updateFormat, upTo, world } from '../../helpers/world.js';
import { invalid, unknownVariant, transaction, errorBody, errorReply, ok } from '../../helpers/wire.js';
import { marbles } from '../../helpers/time.js';

const isPage = ({ path }: ServiceRequest): boolean => path.startsWith('/v2/updates');
const isPoll = ({ query }: ServiceRequest): boolean => 'stream_idle_timeout_ms' in query;
/** Fails where a mistake would loop without end. */
const inTime = <A>(source: Observable<A>): Observable<A> => source.pipe(takeUntil(timer(600_000)));
const tens = [10, 20, 30, 40, 50, 60];

describe('a connection that breaks', () => {
  const broken = (times: number) =>
    world({
      fault: (request) => {
        if (Number(request.body['beginExclusive']) !== 30 || times === 0) return undefined;
        times -= 1;
        return new Error('socket hang up');
      },
    });

  it('before the end of a bounded feed does not complete the feed', () => {
    marbles(({ flush }) => {
      const { ledger, feed } = broken(Infinity);
      fill(ledger, ...tens);
      const seen = observe(feed({ endInclusive: 60 }, { maxPageSize: 3, retry: { giveUpAfterMs: 0 } }).pipe(inTime));
      flush();
      expect(offsets(seen.values)).toEqual([10, 20, 30]);
      expect(seen).toMatchObject({ completed: false, error: { _tag: 'ConnectionError' } });
    });
  });

  it('once loses nothing of a bounded feed, which completes at its end', () => {
    marbles(({ flush }) => {
      const { ledger, feed } = broken(1);
      fill(ledger, ...tens);
      const seen = observe(feed({ endInclusive: 60 }, { maxPageSize: 3 }).pipe(inTime));
      flush();
      expect(offsets(seen.values)).toEqual(tens);
      expect(seen.completed).toBe(true);
    });
  });

  it.each<[string, Reply]>([
    ['by a reset', new Error('read ECONNRESET')],
    ['politely, with an empty list', ok([])],
    ['politely, with nothing', { status: 200, headers: { connection: 'close' }, text: '' }],
    ['by a node that shuts down', errorReply(503, errorBody('SERVER_IS_SHUTTING_DOWN', 1))],
  ])('does not end an unbounded feed: %s', (_, reply) => {
    marbles(({ flush }) => {
      let isClosing = true;
      const { ledger, feed } = world({
        fault: (request) => {
          if (!isPoll(request) || !isClosing) return undefined;
          isClosing = false;
          return timer(500).pipe(map(() => reply));
        },
      });
      fill(ledger, 10, 20, 30);
      const seen = observe(feed().pipe(takeUntil(timer(30_000))));
      timer(10_000).subscribe(() => {
        fill(ledger, 40, 50, 60);
      });
      flush();
      expect(isClosing).toBe(false);
      expect(seen.error).toBeUndefined();
      expect(offsets(seen.values)).toEqual(tens);
    });
  });
});

describe('a read of many pages', () => {
  it('is complete and independent for each subscription', () => {
    marbles(({ flush }) => {
      const { ledger, feed } = world({ latencyMs: 5 });
      fill(ledger, ...upTo(351));
      const feed$ = feed({ endInclusive: 351 }, { maxPageSize: 101 }).pipe(inTime);
      const reads = [observe(feed$), observe(feed$)];
      flush();
      reads.push(observe(feed$));
      flush();
      expect(reads.map(({ values }) => offsets(values))).toEqual([upTo(351), upTo(351), upTo(351)]);
    });
  });
});

describe('a page that is rejected as too large', () => {
  it('never makes the feed skip updates: every request begins after the last update', () => {
    marbles(({ flush }) => {
      const { ledger, service, feed } = world({ maxListElements: 30 });
      fill(ledger, ...upTo(1_000));
      const seen = observe(feed().pipe(takeUntil(timer(1_000))));
      flush();
      const begins = service.requests.filter(isPage).map(({ body }) => Number(body['beginExclusive']));
      expect(offsets(seen.values)).toEqual(upTo(1_000));
      expect(begins.slice(0, 5)).toEqual([0, 0, 0, 0, 25]);
      expect(begins.every((begin, i) => begin - (begins[i - 1] ?? 0) <= 25)).toBe(true);
    });
  });

  it('with a single update is an error with the cursor', () => {
    marbles(({ flush }) => {
      const { ledger, feed } = world({ maxListElements: 0 });
      fill(ledger, ...upTo(1_000));
      const seen = observe(feed({ beginExclusive: 7 }).pipe(inTime));
      flush();
      expect(seen).toMatchObject({ values: [], error: { _tag: 'PageLimitError', cursor: 7 } });
    });
  });
});

describe('a ledger that is pruned', () => {
  it.each([{ earliest_offset: '40' }, {}])('is never skipped without an error: %j', (context) => {
    marbles(({ flush }) => {
      let isPruned = false;
      const { ledger, feed } = world({
        latencyMs: 5,
        fault: (request) =>
          isPage(request) && isPruned
            ? errorReply(400, errorBody('PARTICIPANT_PRUNED_DATA_ACCESSED', 9, context))
            : undefined,
      });
      fill(ledger, ...upTo(100));
      timer(7).subscribe(() => {
        isPruned = true;
      });
      const seen = observe(feed({}, { maxPageSize: 10 }).pipe(inTime));
      flush();
      expect(offsets(seen.values)).toEqual(upTo(10));
      expect(seen.error).toMatchObject({ _tag: 'PrunedError' });
    });
  });
});

describe('updates before a failure', () => {
  it('are emitted first, those of the same page and of earlier pages', () => {
    marbles(({ flush }) => {
      const { ledger, feed } = world();
      fill(ledger, ...upTo(5));
      ledger.append(6, invalid(6));
      fill(ledger, 7);
      const seen = observe(feed({}, { maxPageSize: 3 }).pipe(inTime));
      flush();
      expect(offsets(seen.values)).toEqual(upTo(5));
      expect(seen.error).toMatchObject({ _tag: 'DecodeError', offset: 6 });
    });
  });
});

describe('an element', () => {
  const nonsense: readonly unknown[] = [null, 'frame', 7, [], {}, { update: {} }, { update: { A: {}, B: {} } }];

  it.each(nonsense)('that does not decode is never skipped without an error: %j', (element) => {
    marbles(({ flush }) => {
      const { client } = world({
        fault: (request) => (isPage(request) ? ok([transaction(1), element, transaction(3)]) : ok({ offset: 3 })),
      });
      const seen = observe(client.updates({ beginExclusive: 0, updateFormat }, { onInvalid: 'emit' }).pipe(inTime));
      flush();
      expect(offsets(seen.values)).toEqual([1]);
      expect(seen.error).toMatchObject({ _tag: 'DecodeError' });
    });
  });

  it('of an unknown variant is emitted and advances the cursor', () => {
    marbles(({ flush }) => {
      const { ledger, service, feed } = world();
      ledger.append(5, unknownVariant(5));
      const seen = observe(feed().pipe(takeUntil(timer(100))));
      flush();
      expect(seen.values).toMatchObject([{ _tag: 'UnknownUpdate', variant: 'Novelty', offset: 5 }]);
      expect(service.requests.at(-1)?.body['beginExclusive']).toBe(5);
    });
  });

  it('of every known variant is emitted, not only transactions', () => {
    marbles(({ flush }) => {
      const elements = sample('updates-3.5', 'wire');
      const { feed } = world({ fault: (request) => (isPage(request) ? ok(elements) : ok({ offset: 36 })) });
      const seen = observe(feed({ beginExclusive: 30, endInclusive: 36 }));
      flush();
      expect(seen.values.map(({ _tag }) => _tag)).toEqual([
        'Transaction',
        'Transaction',
        'Reassignment',
        'Reassignment',
        'TopologyTransaction',
        'OffsetCheckpoint',
      ]);
    });
  });
});
