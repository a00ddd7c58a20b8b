import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { concat, NEVER, type Observable, of, takeUntil, timer } from 'rxjs';
import type { CompletionResponse } from '../../src/codecs/Completion.js';
import type { Diagnostic } from '../../src/diagnostics/Diagnostic.js';
import { effort } from '../helpers/effort.js';
import { observe, type Observed, offsets } from '../helpers/observe.js';
import { type Reply, socketOpen } from '../helpers/scripted.js';
import { itInVirtualTime, marbles } from '../helpers/time.js';
import { completion, completionCheckpoint, errorBody, errorReply, rejection } from '../helpers/wire.js';
import { upTo, world, type World, type WorldOptions } from '../helpers/world.js';

const parties = ['alice::1220ab'] as const;
const deprecated = '/v2/commands/completions';
const current = '/v2/commands/command-completions';
const lost = new Error('connection lost');
const socketTransportOf = ({ websocket }: World) => websocket;

const complete = ({ ledger }: World, ...all: readonly number[]): void => {
  for (const offset of all) ledger.append(offset, completion(offset));
};

const read = ({ client }: World, beginExclusive = 0, options = {}): Observable<CompletionResponse> =>
  client.completions({ parties, beginExclusive }, options);

/** Observes a feed over a world in which things change, for a minute. */
function follow(
  options: WorldOptions,
  change: (given: World) => void,
  { begin = 0, forMs = 60_000, feedOptions = undefined as ((given: World) => object) | undefined } = {},
) {
  const events: Diagnostic[] = [];
  const run: { seen?: Observed<CompletionResponse>; given?: World } = {};
  marbles(({ flush }) => {
    const given = world({ latencyMs: 5, participantId: 'first::1220', ...options });
    given.client.diagnostics$.subscribe((event) => events.push(event));
    change(given);
    const seen = observe(read(given, begin, feedOptions?.(given)).pipe(takeUntil(timer(forMs))));
    Object.assign(run, { seen, given });
    flush();
  });
  const { seen, given } = run;
  if (seen === undefined || given === undefined) throw new Error('no feed');
  const lists = given.service.requests.filter(({ path }) => path.endsWith('completions'));
  return { seen, events, lists, given };
}

describe('a feed of completions', () => {
  it('emits existing completions in pages, then new ones at once, each once and in order', () => {
    const { seen, lists, given } = follow({}, (its) => {
      complete(its, ...upTo(450));
      for (const n of upTo(5))
        timer(1_000 * n).subscribe(() => {
          complete(its, 450 + n);
        });
    });
    expect(offsets(seen.values)).toEqual(upTo(455));
    expect(seen.times.slice(-5)).toEqual([1_000, 2_000, 3_000, 4_000, 5_000]);
    expect(lists.slice(0, 4).map(({ query }) => query['limit'])).toEqual(['200', '200', '200', '1']);
    expect(lists[1]).toMatchObject({ path: deprecated, body: { parties, userId: '', beginExclusive: 200 } });
    expect(lists.every(({ body, query }) => !('endInclusive' in body) && 'stream_idle_timeout_ms' in query)).toBe(true);
    expect(given.service.open).toBe(0);
  });

  itInVirtualTime('sends nothing before it is subscribed to, and refuses an invalid request', ({ flush }) => {
    const { client, service } = world();
    const seen = observe(client.completions({ parties: [] as never, beginExclusive: 0 }));
    observe(client.completions({ parties, beginExclusive: 0, endInclusive: 7 } as never));
    expect(() => client.completions({ parties, beginExclusive: 0 }, { maxPageSize: 0 })).toThrow(TypeError);
    flush();
    expect(seen.error).toMatchObject({ _tag: 'InvalidRequestError' });
    expect(service.requests).toEqual([]);
  });

  it('does not move its cursor with an empty response, and loses nothing of a participant that searches for long', () => {
    const { seen, lists } = follow(
      { searchMs: 300 },
      (its) => {
        complete(its, ...upTo(100));
      },
      { forMs: 300_000 },
    );
    expect(offsets(seen.values)).toEqual(upTo(100));
    // it learns how long the participant searches, and then reads pages
    expect(lists.length).toBeLessThan(50);
  });

  it('keeps checkpoints and unknown variants, and moves its cursor with them', () => {
    const { seen, lists } = follow({}, ({ ledger }) => {
      timer(1_000).subscribe(() => {
        ledger.append(10, completionCheckpoint(10));
      });
      timer(2_000).subscribe(() => {
        ledger.append(11, { completionResponse: { Novelty: { value: { offset: 11 } } } });
      });
    });
    expect(seen.values.map(({ _tag, offset }) => [_tag, offset])).toEqual([
      ['OffsetCheckpoint', 10],
      ['UnknownCompletion', 11],
    ]);
    expect(lists.at(-1)?.body['beginExclusive']).toBe(11);
  });

  it.each([undefined, 500])(
    'sends few requests while it is idle, with checkpoints after %p ms',
    (earlyCheckpointMs) => {
      const { lists } = follow({ earlyCheckpointMs }, ({ ledger }) => {
        // the events of others
        timer(0, 100)
          .pipe(takeUntil(timer(100_000)))
          .subscribe((n) => {
            ledger.end = n;
          });
      });
      expect(lists.length).toBeLessThan(60);
    },
  );

  it('halves its limit after a page that is too large', () => {
    const { seen, events } = follow({ maxListElements: 60 }, (its) => {
      complete(its, ...upTo(300));
    });
    expect(offsets(seen.values)).toEqual(upTo(300));
    expect(events).toContainEqual(expect.objectContaining({ _tag: 'PageLimitLearned', pageLimit: 50 }));
  });

  it('ends with an error of the pruned range, or continues where onGap says', () => {
    const prune = (its: World): void => {
      complete(its, ...upTo(9));
      its.ledger.pruned = 5;
    };
    expect(follow({}, prune).seen.error).toMatchObject({ _tag: 'PrunedError', earliestOffset: 5 });
    const { seen } = follow({}, prune, { feedOptions: () => ({ onGap: () => [5] }) });
    expect(offsets(seen.values)).toEqual([6, 7, 8, 9]);
  });

  it('reads a ledger whose end is not served', () => {
    const { seen } = follow({ hasLedgerEnd: false }, (its) => {
      complete(its, ...upTo(500));
      timer(30_000).subscribe(() => {
        complete(its, 501);
      });
    });
    expect(offsets(seen.values)).toEqual(upTo(501));
  });

  it('gets completions pushed by a WebSocket, and reads over HTTP what the socket holds back', () => {
    const pushed = follow(
      {},
      (its) => {
        complete(its, ...upTo(300));
        for (const n of upTo(5))
          timer(1_000 * n).subscribe(() => {
            complete(its, 300 + n);
          });
      },
      { feedOptions: socketTransportOf, forMs: 20_000 },
    );
    expect(offsets(pushed.seen.values)).toEqual(upTo(305));
    expect(pushed.given.sockets.requests).toMatchObject([
      { path: deprecated, body: { parties, userId: '', beginExclusive: 300 } },
    ]);
    expect(pushed.lists.filter(({ query }) => query['limit'] === '1')).toEqual([]);
    const silent = follow(
      { socketFault: () => concat(of(socketOpen), NEVER) },
      (its) => {
        timer(500).subscribe(() => {
          complete(its, 7);
        });
      },
      { feedOptions: socketTransportOf },
    );
    expect(offsets(silent.seen.values)).toEqual([7]);
  });
});

describe('the path of completions', () => {
  it.each(['gone', 'disabled'] as const)(
    'changes once and for good when the first is %s, also in mid-stream',
    (how) => {
      const { seen, lists, events, given } = follow({}, (its) => {
        complete(its, ...upTo(3));
        timer(20_000).subscribe(() => {
          its.ledger.reconfigure({ completions: how });
          its.ledger.disconnect();
          complete(its, 4);
        });
      });
      expect(offsets(seen.values)).toEqual([1, 2, 3, 4]);
      expect(seen.error).toBeUndefined();
      expect(events).toContainEqual(
        expect.objectContaining({ _tag: 'EndpointSwitched', from: deprecated, to: current }),
      );
      const paths = lists.map(({ path }) => path);
      expect(paths.slice(paths.indexOf(current)).every((path) => path === current)).toBe(true);
      expect(lists.at(-1)?.body).toEqual({ parties, beginExclusive: 4 });
      // the path of updates is another
      expect(given.service.requests.every(({ path }) => !path.includes('updates'))).toBe(true);
    },
  );

  itInVirtualTime('of all users is filtered by the client, and falls behind no busy user', ({ flush }) => {
    const its = world({ latencyMs: 5, completions: 'gone' });
    const { client, ledger, service } = its;
    for (const n of upTo(400)) {
      timer(100 * n).subscribe(() => {
        ledger.append(n, completion(n, { userId: n % 40 === 0 ? 'app' : 'other' }));
      });
    }
    const seen = observe(
      client.completions({ parties, userId: 'app', beginExclusive: 0 }).pipe(takeUntil(timer(45_000))),
    );
    flush();
    expect(offsets(seen.values)).toEqual(upTo(10).map((n) => 40 * n));
    expect(seen.times.map((ms, i) => ms - 4_000 * (i + 1)).every((delayMs) => delayMs < 100)).toBe(true);
    expect(service.requests.at(-1)?.body['beginExclusive']).toBe(400);
  });

  it('fails if neither is served', () => {
    const { seen } = follow({ completions: 'gone', commandCompletions: 'gone' }, () => undefined);
    expect(seen.error).toMatchObject({ _tag: 'ApiError', status: 404, path: current });
  });
});

describe('after an outage, a feed of completions', () => {
  const others = (...all: readonly number[]) =>
    all.map((offset) => ({ offset, element: completion(offset, { updateId: `other${offset}` }) }));
  const outage = (change: (its: World) => void, options: WorldOptions = {}) =>
    follow(options, (its) => {
      complete(its, ...upTo(8));
      its.ledger.append(9, rejection(9));
      timer(20_000).subscribe(() => {
        change(its);
      });
    });

  it('continues on the same ledger, also if the other path has more completions', () => {
    const { seen } = outage((its) => {
      its.ledger.reconfigure({ completions: 'gone' });
      its.ledger.disconnect();
      complete(its, 10);
    });
    expect(offsets(seen.values)).toEqual(upTo(10));
    expect(seen.error).toBeUndefined();
  });

  it.each([
    [
      'has another completion there',
      (its: World): void => {
        its.ledger.replace(others(...upTo(30)), 30);
      },
    ],
    [
      'has its completions at other offsets',
      (its: World): void => {
        const moved = upTo(8).map((offset) => ({
          offset: offset < 5 ? offset : offset + 7,
          updateId: `1220${offset}`,
        }));
        const elements = moved.map((each) => ({ ...each, element: completion(each.offset, each) }));
        its.ledger.replace(elements, 30);
      },
    ],
    [
      'is that of another participant',
      (its: World): void => {
        its.ledger.replace([], 30, 'second::1220');
      },
    ],
    [
      'ends before the cursor',
      (its: World): void => {
        its.ledger.restore(4);
      },
    ],
  ])('ends with an error if the ledger %s, and emits nothing of it', (_, change) => {
    const { seen } = outage(change, { client: { retry: { giveUpAfterMs: 10_000 } } });
    expect(offsets(seen.values)).toEqual(upTo(9));
    expect(seen.error).toMatchObject({ _tag: 'LedgerResetError', cursor: 9 });
  });

  it('does not take a slow response for another ledger', () => {
    const { seen } = outage(
      (its) => {
        its.ledger.reconfigure({ searchMs: 400 });
        its.ledger.disconnect();
        complete(its, 10);
      },
      { searchMs: 0 },
    );
    expect(offsets(seen.values)).toEqual(upTo(10));
    expect(seen.error).toBeUndefined();
  });
});

describe('under any schedule', () => {
  const fault = fc.constantFrom('none', 'none', 'none', 'lost', 'unavailable', 'truncated', 'empty', 'repeated');
  const schedules = fc.record({
    gaps: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 60 }),
    kinds: fc.array(fc.constantFrom('committed', 'rejected', 'checkpoint'), { minLength: 60, maxLength: 60 }),
    early: fc.nat({ max: 60 }),
    everyMs: fc.integer({ min: 1, max: 2_000 }),
    maxPageSize: fc.integer({ min: 1, max: 20 }),
    searchMs: fc.constantFrom(0, 0, 10, 40, 200),
    earlyCheckpointMs: fc.constantFrom(undefined, 10, 500),
    hasLedgerEnd: fc.boolean(),
    bySocket: fc.boolean(),
    disconnects: fc.array(fc.integer({ min: 1, max: 60_000 }), { maxLength: 4 }),
    switchesAt: fc.option(fc.integer({ min: 0, max: 60_000 }), { nil: undefined }),
    faults: fc.array(fault, { maxLength: 40 }),
  });

  it('emits exactly the completions of the ledger, once and in order', () => {
    fc.assert(
      fc.property(schedules, ({ gaps, kinds, early, everyMs, maxPageSize, bySocket, faults, ...schedule }) => {
        marbles(({ flush }) => {
          const { searchMs, earlyCheckpointMs, hasLedgerEnd, disconnects, switchesAt } = schedule;
          let at = 0;
          const all = gaps.map((gap, i) => ({ offset: (at += gap), kind: kinds[i] }));
          const its: World = world({
            ...{ latencyMs: 5, participantId: 'first::1220', searchMs, earlyCheckpointMs, hasLedgerEnd },
            fault: (request, n): Reply | undefined => {
              const begin = Number(request.body['beginExclusive'] ?? 0);
              const page = (end: number): Reply => its.ledger.page(its.ledger.between(begin, end).slice(0, 1));
              const isList = request.path.endsWith('completions');
              switch (faults[n - 1] ?? 'none') {
                case 'lost':
                  return lost;
                case 'unavailable':
                  return errorReply(503, errorBody('SERVICE_NOT_RUNNING', 1));
                case 'truncated':
                  return isList ? page(its.ledger.end) : undefined;
                case 'empty':
                  return isList ? its.ledger.page([]) : undefined;
                case 'repeated': {
                  const before = its.ledger.between(0, begin).slice(-1);
                  const after = its.ledger.between(begin, its.ledger.end).slice(0, 1);
                  return isList && after.length > 0 ? its.ledger.page([...before, ...after]) : undefined;
                }
                default:
                  return undefined;
              }
            },
          });
          const append = ({ offset, kind }: { offset: number; kind: string | undefined }): void => {
            const elements = { committed: completion, rejected: rejection, checkpoint: completionCheckpoint };
            its.ledger.append(offset, elements[kind as keyof typeof elements](offset));
          };
          all.slice(0, early).forEach(append);
          for (const [i, entry] of all.slice(early).entries())
            timer((i + 1) * everyMs).subscribe(() => {
              append(entry);
            });
          for (const ms of disconnects)
            timer(ms).subscribe(() => {
              its.ledger.disconnect();
            });
          if (switchesAt !== undefined)
            timer(switchesAt).subscribe(() => {
              its.ledger.reconfigure({ completions: 'gone' });
            });
          const options = { maxPageSize, ...(bySocket && its.websocket) };
          const seen = observe(read(its, 0, options).pipe(takeUntil(timer(1_500_000))));
          flush();
          const isCompletion = ({ _tag }: CompletionResponse): boolean => _tag === 'Completion';
          expect(seen.error).toBeUndefined();
          expect(offsets(seen.values.filter(isCompletion))).toEqual(
            all.filter(({ kind }) => kind !== 'checkpoint').map(({ offset }) => offset),
          );
          expect([its.service.open, its.sockets.open]).toEqual([0, 0]);
        });
      }),
      { numRuns: effort(20, 400) },
    );
  });
});
