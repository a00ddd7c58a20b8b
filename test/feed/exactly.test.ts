import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { NEVER, takeUntil, timer, type Observable } from 'rxjs';
import { marbles } from '../helpers/marbles.js';
import { observe, offsets } from '../helpers/observe.js';
import { canton, failed, notFound, ok, type Asked, type Reply } from '../helpers/scripted.js';
import { world } from '../helpers/world.js';
import { novelty, transaction } from '../helpers/wire.js';

/** What may go wrong with one request; `undefined` for nothing. */
type Fault = ((asked: Asked) => Reply | Observable<Reply> | undefined) | undefined;

const isPage = ({ path }: Asked): boolean => path.startsWith('/v2/updates');

const fault: fc.Arbitrary<Fault> = fc.oneof(
  { weight: 3, arbitrary: fc.constant(undefined) },
  fc.constantFrom<Fault>(
    () => new Error('reset'),
    () => NEVER,
    () => failed(503, 'The server was not able to produce a timely response to your request.'),
    () => failed(503, canton('SERVICE_NOT_RUNNING', 1)),
    () => failed(409, canton('PARTICIPANT_BACKPRESSURE', 2)),
    () => failed(502, '<html>'),
    () => ({ status: 200, headers: {}, text: '[{"update":{"Transaction":{"value":{"off' }),
    // lies that only the list can tell: nothing there, though there is
    (asked) => (isPage(asked) && !('endInclusive' in asked.body) ? ok([]) : undefined),
    (asked) => (asked.path === '/v2/updates/flats' ? notFound : undefined),
    (asked) =>
      isPage(asked) && asked.query['limit'] !== '1'
        ? failed(413, canton('JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED', 2))
        : undefined,
  ),
);

const scenario = fc.record({
  gaps: fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 80 }),
  novel: fc.integer({ min: 0, max: 9 }),
  known: fc.integer({ min: 0, max: 80 }),
  everyMs: fc.integer({ min: 1, max: 3_000 }),
  begin: fc.integer({ min: 0, max: 200 }),
  bound: fc.option(fc.integer({ min: 1, max: 2_000 }), { nil: undefined }),
  maxPageSize: fc.integer({ min: 1, max: 30 }),
  maxListElements: fc.integer({ min: 1, max: 40 }),
  earlyCheckpointMs: fc.option(fc.constantFrom(0, 300, 500), { nil: undefined }),
  hasLedgerEnd: fc.boolean(),
  faults: fc.array(fault, { maxLength: 40 }),
});

describe('what a subscriber sees', () => {
  it('is exactly the ledger, whatever the ledger and whatever goes wrong', () => {
    fc.assert(
      fc.property(scenario, (given) => {
        const { gaps, known, everyMs, maxPageSize, faults, earlyCheckpointMs } = given;
        const all = gaps.reduce<number[]>((list, gap) => [...list, (list.at(-1) ?? 0) + gap], []);
        marbles(({ flush }) => {
          const { ledger, feed, service } = world({
            latencyMs: 7,
            maxListElements: given.maxListElements,
            hasLedgerEnd: given.hasLedgerEnd,
            ...(earlyCheckpointMs !== undefined && { earlyCheckpointMs }),
            fault: (asked, n) => faults[n - 1]?.(asked),
          });
          const add = (offset: number): void => {
            ledger.append(offset, offset % 10 === given.novel ? novelty(offset) : transaction(offset));
          };
          all.slice(0, known).forEach(add);
          // an earlier feed has seen everything up to the cursor
          const beginExclusive = Math.min(given.begin, ledger.end);
          const endInclusive = given.bound === undefined ? undefined : Math.max(given.bound, beginExclusive);
          const bound = endInclusive === undefined ? {} : { endInclusive };
          // when to give up is another test's business
          const how = { maxPageSize, retry: { maxDelayMs: 1_000, giveUpAfterMs: 1_000_000 } };
          const seen = observe(feed({ beginExclusive, ...bound }, how).pipe(takeUntil(timer(2_000_000))));
          for (const [i, offset] of all.slice(known).entries())
            timer(everyMs * (i + 1)).subscribe(() => {
              add(offset);
            });
          flush();
          const updates = seen.values.filter(({ _tag }) => _tag !== 'OffsetCheckpoint');
          const expected = all.filter((offset) => offset > beginExclusive && offset <= (endInclusive ?? Infinity));
          expect(seen.error).toBeUndefined();
          expect(offsets(updates)).toEqual(expected);
          // checkpoints never run ahead of what has been emitted, nor backwards
          expect(offsets(seen.values)).toEqual(offsets(seen.values).sort((a, b) => a - b));
          expect(service.open).toBe(0);
        });
      }),
      { numRuns: 100 },
    );
  });
});
