import { describe, expect, it } from '@jest/globals';
import { timer } from 'rxjs';
import { observe, offsets } from '../helpers/observe.js';
import { marbles } from '../helpers/time.js';
import { transactionWith } from '../helpers/wire.js';
import { fill, upTo, world } from '../helpers/world.js';

/** Follows a ledger of which no request can begin with the last update, until another participant answers in its place. */
const switched = (beginExclusive: number, end: number, pruned = 0, transport: 'http' | 'socket' = 'http') =>
  marbles(({ flush }) => {
    const { ledger, feed, websocket } = world({ participantId: 'first::1220', latencyMs: 5 });
    fill(ledger, ...upTo(10));
    const seen = observe(feed({ beginExclusive }, transport === 'socket' ? websocket : {}));
    timer(10_000).subscribe(() => {
      ledger.end = end;
    });
    timer(80_000).subscribe(() => {
      ledger.pruned = pruned;
    });
    timer(100_000).subscribe(() => {
      // no connection is closed
      ledger.reconfigure({ participantId: 'second::1220' });
      ledger.append(end + 10, transactionWith(end + 10, { updateId: 'other' }));
    });
    timer(600_000).subscribe(() => {
      seen.subscription.unsubscribe();
    });
    flush();
    return seen;
  });

describe('an update of another participant, which answers without a failed request, is not emitted', () => {
  it.each<[string, Parameters<typeof switched>, readonly number[]]>([
    ['if the last update is far away', [0, 300_000], upTo(10)],
    ['if the last update is pruned', [0, 300, 200], upTo(10)],
    ['if nothing was read', [10, 300], []],
    ['if it is the first one of a socket', [0, 300_000, 0, 'socket'], upTo(10)],
  ])('%s', (_, args, read) => {
    const seen = switched(...args);
    expect(offsets(seen.values)).toEqual(read);
    expect(seen.error).toMatchObject({ _tag: 'LedgerResetError' });
  });
});

it('a checkpoint that each poll repeats is not proven by the ID of the participant', () => {
  marbles(({ flush }) => {
    const { ledger, feed, service } = world({ participantId: 'first::1220', latencyMs: 5, earlyCheckpointMs: 500 });
    ledger.end = 10;
    // nothing was read that a request could begin with
    const { subscription } = observe(feed({ beginExclusive: 10 }));
    timer(600_000).subscribe(() => {
      subscription.unsubscribe();
    });
    flush();
    // once a minute
    const ids = service.requests.filter(({ path }) => path.endsWith('/participant-id'));
    expect(ids.length).toBeLessThanOrEqual(12);
    expect(service.requests.length).toBeGreaterThan(2 * ids.length);
  });
});
