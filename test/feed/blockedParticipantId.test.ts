import { expect, it } from '@jest/globals';
import { timer } from 'rxjs';
import { observe, offsets } from '../helpers/observe.js';
import { marbles } from '../helpers/time.js';
import { errorReply } from '../helpers/wire.js';
import { fill, upTo, world } from '../helpers/world.js';

const statuses = [401, 403, 404, 405, 429];
/** Before, the feed proves its ledger by the last update; after that is pruned, only by its offset. */
const prunings = [0, 10];
/** Ranges are read ahead, or not, after the outage. */
const lengths = [12, 100];
const cases = statuses.flatMap((status) =>
  prunings.flatMap((pruned) =>
    lengths.flatMap((length) =>
      (['fail', 'relocate'] as const).map((onOtherNode) => ({ status, pruned, length, onOtherNode })),
    ),
  ),
);

it.each(cases)(
  'a feed continues where a gateway blocks the ID of the participant after an outage: %p',
  ({ status, pruned, length, onOtherNode }) => {
    marbles(({ flush }) => {
      let isDown = false;
      let isBlocked = false;
      const { ledger, service, feed } = world({
        participantId: 'first::1220',
        latencyMs: 5,
        fault: ({ path }) => {
          if (isDown) return new Error('reset');
          return isBlocked && path.endsWith('/participant-id') ? errorReply(status, 'blocked') : undefined;
        },
      });
      fill(ledger, ...upTo(10));
      const seen = observe(feed({}, { onOtherNode, maxPageSize: 10 }));
      timer(10_000).subscribe(() => {
        isDown = true;
        isBlocked = true;
      });
      timer(12_000).subscribe(() => {
        isDown = false;
        ledger.pruned = pruned;
        fill(ledger, ...upTo(length).slice(10));
      });
      timer(60_000).subscribe(() => {
        seen.subscription.unsubscribe();
      });
      flush();
      expect(seen.error).toBeUndefined();
      expect(offsets(seen.values)).toEqual(upTo(length));
      expect(service.requests.length).toBeLessThan(150);
    });
  },
);
