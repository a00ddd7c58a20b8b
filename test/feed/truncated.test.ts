import { describe, expect, it } from '@jest/globals';
import { take } from 'rxjs';
import { effort } from '../helpers/effort.js';
import { observe, offsets } from '../helpers/observe.js';
import { fill, upTo, world } from '../helpers/world.js';
import { transaction, ok } from '../helpers/wire.js';
import { marbles } from '../helpers/time.js';

describe('an answer of 20 updates', () => {
  it('that is cut at any byte loses and repeats nothing (G1)', () => {
    const whole = ok(upTo(20).map((offset) => transaction(offset)));
    const cuts = effort(300, whole.text.length);
    for (let cut = 0; cut < cuts; cut += 1) {
      const bytes = Math.floor((cut * whole.text.length) / cuts);
      marbles(({ flush }) => {
        const { ledger, feed, service } = world({
          fault: ({ path }, n) =>
            path.startsWith('/v2/updates') && n === 2 ? { ...whole, text: whole.text.slice(0, bytes) } : undefined,
        });
        fill(ledger, ...upTo(20));
        const seen = observe(feed().pipe(take(20)));
        flush();
        if (!seen.completed) throw new Error(`cut at byte ${bytes}: ${String(seen.error)}`);
        expect(offsets(seen.values)).toEqual(upTo(20));
        expect(service.requests).toHaveLength(3);
      });
    }
  });
});
