import { describe, expect, it } from '@jest/globals';
import { take } from 'rxjs';
import { marbles } from '../helpers/marbles.js';
import { observe, offsets } from '../helpers/observe.js';
import { ok } from '../helpers/scripted.js';
import { fill, upTo, world } from '../helpers/world.js';
import { transaction } from '../helpers/wire.js';

describe('an answer of 20 updates', () => {
  it('that is cut at any of its bytes loses nothing and repeats nothing', () => {
    const whole = ok(upTo(20).map(transaction));
    for (let bytes = 0; bytes < whole.text.length; bytes += 1) {
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
        expect(service.asked).toHaveLength(3);
      });
    }
  });
});
