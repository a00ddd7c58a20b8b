import { describe, expect, it } from '@jest/globals';
import { Observable, takeUntil, timer } from 'rxjs';
import type { Diagnostic } from '../../src/diagnostics/Diagnostic.js';
import { observe, type Observed, offsets } from '../helpers/observe.js';
import type { Reply, ServiceRequest } from '../helpers/scripted.js';
import { itInVirtualTime, marbles } from '../helpers/time.js';
import type { Entry } from '../helpers/virtualLedger.js';
import { errorReply, transaction, transactionWithId, unknownVariant } from '../helpers/wire.js';
import { fill, updateFormat, upTo, world, type World, type WorldOptions } from '../helpers/world.js';

/** The updates of another ledger: the same offsets, but other updates. */
const others = (...all: readonly number[]): Entry[] =>
  all.map((offset) => ({ offset, element: transactionWithId(offset, `other${offset}`) }));

/** Runs a feed from 0 over a ledger of 9 updates, does something after 20 seconds, and observes the feed for a minute more. */
function outageOf(options: WorldOptions, change: (given: World) => void, begin = 0) {
  const requests: ServiceRequest[] = [];
  const diagnostics: Diagnostic[] = [];
  let seen: Observed<object & { readonly offset: number }> | undefined;
  marbles(({ flush }) => {
    const given = world({ latencyMs: 5, participantId: 'first::1220', ...options });
    fill(given.ledger, ...upTo(9));
    given.client.diagnostics$.subscribe((diagnostic) => diagnostics.push(diagnostic));
    seen = observe(given.feed({ beginExclusive: begin }).pipe(takeUntil(timer(80_000))));
    timer(20_000).subscribe(() => {
      given.service.requests.splice(0);
      change(given);
    });
    flush();
    requests.push(...given.service.requests);
  });
  if (seen === undefined) throw new Error('no feed');
  return { seen, requests, diagnostics };
}

const another = { _tag: 'LedgerResetError', reason: 'anotherLedger' };

describe('after an outage, a feed', () => {
  it('ends with an error if another ledger has grown past its cursor (G19)', () => {
    const { seen } = outageOf({}, ({ ledger }) => {
      ledger.replace(others(...upTo(30)), 30, 'second::1220');
    });
    expect(offsets(seen.values)).toEqual(upTo(9));
    expect(seen.error).toMatchObject({ ...another, cursor: 9 });
    expect(String(seen.error)).toContain('update 12209 is no longer at offset 9');
  });

  it('notices another ledger within seconds, although that ledger is quiet', () => {
    const { seen } = outageOf({}, ({ ledger }) => {
      ledger.replace(others(...upTo(9)), 9);
    });
    expect(seen.error).toMatchObject(another);
    expect(seen.endedAt).toBeLessThan(22_000);
  });

  it('ends with an error if the ledger was restored from a backup and has grown past its cursor', () => {
    const { seen } = outageOf({}, ({ ledger }) => {
      ledger.replace([...ledger.between(0, 8), ...others(9, 10, 11)], 11);
    });
    expect(offsets(seen.values)).toEqual(upTo(9));
    expect(seen.error).toMatchObject(another);
  });

  it('ends with an error if the participant is another one and nothing was read', () => {
    const { seen } = outageOf(
      {},
      ({ ledger }) => {
        ledger.replace(others(...upTo(30)), 30, 'second::1220');
      },
      9,
    );
    expect(seen.values).toEqual([]);
    expect(seen.error).toMatchObject({ ...another, difference: 'the participant is second::1220, not first::1220' });
  });

  it('ends with an error if a checkpoint has moved the cursor on and the participant is another one with the same update', () => {
    const { seen } = outageOf({ earlyCheckpointMs: 500 }, ({ ledger }) => {
      ledger.replace([...ledger.between(0, 9), ...others(...upTo(30).slice(12))], 30, 'second::1220');
    });
    // the cursor is at the last update, so the update is the proof
    expect(seen.error).toBeUndefined();
    const moved = outageOf({ earlyCheckpointMs: 500 }, ({ ledger }) => {
      ledger.end = 12;
      timer(20_000).subscribe(() => {
        ledger.replace([...ledger.between(0, 9), ...others(...upTo(30).slice(12))], 30, 'second::1220');
      });
    });
    expect(moved.seen.values.some(({ offset }) => offset > 12)).toBe(false);
    expect(moved.seen.error).toMatchObject(another);
  });

  itInVirtualTime(
    'ends with an error if the ledger was restored to before its cursor, but after its last update',
    ({ flush }) => {
      const { ledger, feed } = world({ latencyMs: 5, participantId: 'first::1220' });
      fill(ledger, ...upTo(9));
      ledger.end = 20;
      const seen = observe(feed().pipe(takeUntil(timer(60_000))));
      timer(20_000).subscribe(() => {
        ledger.replace([...ledger.between(0, 9), ...others(15, 21)], 21);
      });
      flush();
      expect(offsets(seen.values)).toEqual(upTo(9));
      expect(seen.error).toMatchObject(another);
    },
  );

  it.each(['fail', 'emit'] as const)(
    'continues if its last update no longer decodes, with onUndecodable %j: offset and ID are the proof',
    (onUndecodable) => {
      marbles(({ flush }) => {
        const { ledger, client } = world({ latencyMs: 5, participantId: 'first::1220' });
        fill(ledger, ...upTo(9));
        const feed$ = client.updates({ beginExclusive: 0, updateFormat }, { onUndecodable });
        const seen = observe(feed$.pipe(takeUntil(timer(60_000))));
        timer(20_000).subscribe(() => {
          const changed = structuredClone(transaction(9)) as { update: { Transaction: { value: object } } };
          Object.assign(changed.update.Transaction.value, { recordTime: { upgraded: true } });
          ledger.replace([...ledger.between(0, 8), { offset: 9, element: changed }], 9);
          ledger.append(10, transaction(10));
        });
        flush();
        expect(seen.error).toBeUndefined();
        expect(offsets(seen.values)).toEqual(upTo(10));
      });
    },
  );

  itInVirtualTime('resumes on another ledger where onGap says (G19)', ({ flush }) => {
    const { ledger, feed } = world({ participantId: 'first::1220' });
    fill(ledger, ...upTo(9));
    const gaps: unknown[] = [];
    const onGap = (gap: unknown) => {
      gaps.push(gap);
      return [20];
    };
    const seen = observe(feed({}, { onGap }).pipe(takeUntil(timer(60_000))));
    timer(20_000).subscribe(() => {
      ledger.replace(others(...upTo(22)), 22, 'second::1220');
    });
    // it is the same one from then on
    timer(40_000).subscribe(() => {
      ledger.disconnect();
    });
    flush();
    expect(seen.error).toBeUndefined();
    expect(offsets(seen.values)).toEqual([...upTo(9), 21, 22]);
    expect(gaps).toEqual([{ cursor: 9, error: expect.objectContaining(another) }]);
  });

  it('notices another ledger if a gateway refused only the request for the ledger end meanwhile', () => {
    let replace: (() => void) | undefined;
    const { seen } = outageOf(
      {
        fault: ({ path }) => {
          if (path !== '/v2/state/ledger-end' || replace === undefined) return undefined;
          replace();
          return errorReply(404, 'default backend - 404');
        },
      },
      ({ ledger }) => {
        replace = () => {
          ledger.replace(others(...upTo(30)), 30);
        };
        ledger.append(10, transactionWithId(10, '122010'));
      },
    );
    expect(offsets(seen.values)).toEqual(upTo(10));
    expect(seen.error).toMatchObject(another);
  });

  itInVirtualTime('in descending order emits nothing of another ledger', ({ flush }) => {
    const { ledger, feed } = world({ latencyMs: 50 });
    fill(ledger, ...upTo(90));
    const seen = observe(feed({ endInclusive: 90, descendingOrder: true }, { maxPageSize: 10 }));
    timer(120).subscribe(() => {
      ledger.replace(others(...upTo(120)), 120);
    });
    flush();
    expect(offsets(seen.values)).toEqual(upTo(90).slice(70).reverse());
    expect(seen.error).toMatchObject(another);
  });

  itInVirtualTime('that lasted while the machine slept proves the ledger, too', ({ flush }) => {
    const { ledger, feed } = world({
      // the response arrives after two minutes, as if nothing had happened
      fault: ({ query }, n) => (query['stream_idle_timeout_ms'] !== undefined && n < 5 ? slept(ledger) : undefined),
    });
    const slept = (given: typeof ledger) =>
      new Observable<Reply>((subscriber) =>
        timer(120_000).subscribe(() => {
          subscriber.next(given.page(given.between(9, 30)));
        }),
      );
    fill(ledger, ...upTo(9));
    timer(60_000).subscribe(() => {
      ledger.replace(others(...upTo(30)), 30);
    });
    const seen = observe(feed().pipe(takeUntil(timer(200_000))));
    flush();
    expect(offsets(seen.values)).toEqual(upTo(9));
    expect(seen.error).toMatchObject(another);
  });
});

describe('after an outage of the same ledger, a feed continues', () => {
  const grow = ({ ledger }: World): void => {
    ledger.disconnect();
    fill(ledger, 10, 11);
  };
  const all = [...upTo(9), 10, 11];

  it('with at most two more requests', () => {
    const { seen, requests } = outageOf({}, ({ ledger }) => {
      ledger.disconnect();
    });
    expect(offsets(seen.values)).toEqual(upTo(9));
    const polls = requests.filter(({ query }) => query['stream_idle_timeout_ms'] !== undefined);
    const ends = requests.filter(({ path }) => path === '/v2/state/ledger-end');
    expect(requests.length - polls.length - ends.length).toBe(1);
    expect(polls.filter(({ query }) => query['stream_idle_timeout_ms'] === '25')).toHaveLength(1);
  });

  it.each<readonly [string, WorldOptions, (given: World) => void]>([
    ['that was restarted', {}, grow],
    ['of a service without the ID of the participant', { participantId: undefined }, grow],
    ['of a service of two operations', { participantId: undefined, hasLedgerEnd: false }, grow],
    ['without /v2/updates/flats', { flats: 'gone' }, grow],
  ])('%s', (_, options, change) => {
    const { seen, diagnostics } = outageOf(options, change);
    expect(seen.error).toBeUndefined();
    expect(offsets(seen.values)).toEqual(all);
    expect(diagnostics.filter(({ _tag }) => _tag === 'LedgerUnproven')).toEqual([]);
  });

  it('that was pruned exactly up to the cursor, and reports once that nothing proves it', () => {
    const { seen, diagnostics } = outageOf({ participantId: undefined }, (given) => {
      given.ledger.pruned = 9;
      grow(given);
      timer(2_000).subscribe(() => {
        given.ledger.pruned = 11;
        given.ledger.disconnect();
      });
    });
    expect(seen.error).toBeUndefined();
    expect(offsets(seen.values)).toEqual(all);
    expect(diagnostics.filter(({ _tag }) => _tag === 'LedgerUnproven')).toMatchObject([{ cursor: 9 }]);
  });

  itInVirtualTime('at an update of an unknown variant', ({ flush }) => {
    const { ledger, feed } = world({ participantId: 'first::1220' });
    fill(ledger, ...upTo(8));
    ledger.append(9, unknownVariant(9));
    const seen = observe(feed().pipe(takeUntil(timer(60_000))));
    timer(20_000).subscribe(() => {
      grow({ ledger } as World);
    });
    flush();
    expect(seen.error).toBeUndefined();
    expect(offsets(seen.values)).toEqual(all);
  });

  it('on a replica that lags for some seconds', () => {
    let end: number | undefined;
    marbles(({ flush }) => {
      const { ledger, feed } = world({
        participantId: 'first::1220',
        fault: (request) => (end === undefined ? undefined : ledger.reply(request, end)),
      });
      fill(ledger, ...upTo(9));
      const seen = observe(feed().pipe(takeUntil(timer(60_000))));
      timer(20_000).subscribe(() => {
        end = 6;
        ledger.disconnect();
      });
      timer(26_000).subscribe(() => {
        end = undefined;
        fill(ledger, 10, 11);
      });
      flush();
      expect(seen.error).toBeUndefined();
      expect(offsets(seen.values)).toEqual(all);
    });
  });
});

describe('a feed from the last update of an earlier one', () => {
  const since = (lastUpdate: { offset: number; updateId: string }, pruned = 0) => {
    const found: { seen?: Observed<{ readonly offset: number }>; requests: number } = { requests: 0 };
    marbles(({ flush }) => {
      const { ledger, service, client } = world({ latencyMs: 5, participantId: 'first::1220' });
      fill(ledger, ...upTo(30));
      ledger.pruned = pruned;
      const request = { beginExclusive: 20, endInclusive: 30, updateFormat };
      found.seen = observe(client.updates(request, { lastUpdate }));
      flush();
      found.requests = service.requests.length;
    });
    return found;
  };

  it('emits what follows if the ledger still has it', () => {
    const { seen, requests } = since({ offset: 20, updateId: '122020' });
    expect([offsets(seen?.values ?? []), seen?.completed]).toEqual([upTo(30).slice(20), true]);
    // the ledger end, the proof, and a page
    expect(requests).toBe(3);
  });

  it.each([
    ['has another one at its offset', { offset: 20, updateId: 'other20' }],
    ['has others between it and the start', { offset: 18, updateId: '122018' }],
  ])('emits nothing if the ledger %s', (_, lastUpdate) => {
    const { seen } = since(lastUpdate);
    expect(seen).toMatchObject({ values: [], error: another });
  });

  it('emits what follows if it is pruned', () => {
    expect(since({ offset: 20, updateId: '122020' }, 20).seen).toMatchObject({ completed: true });
  });

  it.each([{ offset: -1, updateId: 'a' }, { offset: 1 }])('throws for %j', (lastUpdate) => {
    const { client } = world();
    const invalid = lastUpdate as { offset: number; updateId: string };
    expect(() => client.updates({ beginExclusive: 1, updateFormat }, { lastUpdate: invalid })).toThrow(TypeError);
  });
});

describe('while all is well, a feed', () => {
  itInVirtualTime(
    'sends no request more than for the updates, but for the ID of the participant once after a checkpoint',
    ({ flush }) => {
      const { ledger, service, feed } = world({ latencyMs: 5, earlyCheckpointMs: 500, participantId: 'first::1220' });
      fill(ledger, ...upTo(9));
      observe(feed().pipe(takeUntil(timer(600_000))));
      timer(1_000).subscribe(() => {
        ledger.end = 12;
      });
      flush();
      const proofs = service.requests.filter(({ body }) => body['endInclusive'] === 9 && body['beginExclusive'] === 8);
      expect(proofs).toEqual([]);
      expect(service.requests.filter(({ path }) => path.endsWith('/participant-id'))).toHaveLength(1);
    },
  );
});

describe('a feed that has read ahead before an outage', () => {
  itInVirtualTime('emits nothing of the ledger before together with what another ledger has', ({ flush }) => {
    const held = new Set<string>();
    const { ledger, feed } = world({
      latencyMs: 5,
      // the page after the cursor hangs while those after it arrive
      fault: ({ path, body }) => {
        const begin = Number(body['beginExclusive']);
        if (!path.startsWith('/v2/updates') || begin < 10 || held.has('due')) return undefined;
        held.add('due');
        return new Observable((subscriber) => {
          const replaced = timer(1_000).subscribe(() => {
            ledger.replace([...ledger.between(0, 15), ...others(...upTo(100).slice(15))], 100);
            subscriber.error(new Error('ECONNRESET'));
          });
          return replaced;
        });
      },
    });
    fill(ledger, ...upTo(100));
    const options = { maxPageSize: 10, parallelRanges: 8 };
    const seen = observe(feed({ endInclusive: 100 }, options));
    flush();
    const ids = seen.values.map((update) => ('updateId' in update ? update.updateId : ''));
    expect(offsets(seen.values)).toEqual(upTo(100));
    expect(ids.slice(15).every((id) => id.startsWith('other'))).toBe(true);
  });
});
