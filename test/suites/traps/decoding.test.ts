/** Mistakes of other clients of this ledger: rounded numbers, events that are lost for their shape, a variant that ends the feed. */
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { takeUntil, timer } from 'rxjs';
import { replaceAt, sample } from '../../codecs/support.js';
import { observe, offsets, type Observed } from '../../helpers/observe.js';
import { fill, updateFormat, world } from '../../helpers/world.js';
import { checkpoint, unknownVariant, transaction, ok } from '../../helpers/wire.js';
import { marbles } from '../../helpers/time.js';
import type { Update } from '../../../src/codecs/Update.js';
import type { InvalidUpdate } from '../../../src/feed/UpdatesOptions.js';

afterEach(() => {
  jest.restoreAllMocks();
});

const beyond = '9007199254740993';
/** JSON text in which the offset 1 is replaced by an integer that no JavaScript number can represent. */
const withOffsetBeyond = (element: unknown): string =>
  JSON.stringify(element).replace('"offset":1', `"offset":${beyond}`);

/** Reads a page with the given text. */
function read(page: string): Observed<Update | InvalidUpdate> {
  const { client } = world({
    fault: ({ path }) => (path.endsWith('ledger-end') ? ok({ offset: 100 }) : { ...ok(0), text: page }),
  });
  return observe(
    client
      .updates({ beginExclusive: 0, endInclusive: 100, updateFormat }, { onInvalid: 'emit' })
      .pipe(takeUntil(timer(600_000))),
  );
}

describe(`an offset of ${beyond}`, () => {
  it.each([
    ['transaction', transaction(1)],
    ['checkpoint', checkpoint(1)],
    ['unknown variant', unknownVariant(1)],
  ])('is an error and never rounded, in a %s', (_, element) => {
    marbles(({ flush }) => {
      const seen = read(`[${withOffsetBeyond(element)}]`);
      flush();
      expect(seen.values).toEqual([]);
      expect(seen.error).toMatchObject({ _tag: 'DecodeError' });
      expect(String(seen.error)).not.toContain('900719925474099');
    });
  });

  it('is an error as the ledger end, and never used in a request', () => {
    marbles(({ flush }) => {
      const { service, feed } = world({ fault: () => ({ ...ok(0), text: `{"offset":${beyond}}` }) });
      const seen = observe(feed().pipe(takeUntil(timer(600_000))));
      flush();
      expect(seen.error).toMatchObject({ _tag: 'DecodeError' });
      expect(service.requests).toHaveLength(1);
    });
  });

  it('is an error also where JSON.parse lacks the source text of numbers, as on Node 20', () => {
    const parse = JSON.parse;
    jest.spyOn(JSON, 'parse').mockImplementation((text, reviver) => {
      const plain: unknown = parse(text, reviver && ((key: string, value: unknown): unknown => reviver(key, value)));
      return plain;
    });
    marbles(({ flush }) => {
      const seen = read(`[${withOffsetBeyond(transaction(1))}]`);
      flush();
      expect(seen.error).toMatchObject({ _tag: 'DecodeError' });
    });
  });
});

describe('a number in a payload', () => {
  it('stays a string', () => {
    const element = replaceAt(
      sample('updates-3.4', 'wire', 0),
      'update.Transaction.value.events.0.CreatedEvent.createArgument',
      { amount: beyond },
    );
    marbles(({ flush }) => {
      const seen = read(JSON.stringify([element]));
      flush();
      expect(seen.values).toMatchObject([{ events: [{ createArgument: { amount: beyond } }, {}] }]);
    });
  });
});

describe('the events of an update', () => {
  const event = (i: number): unknown => sample('updates-3.4', 'wire', 0, 'update', 'Transaction', 'value', 'events', i);
  const withEvents = (...events: readonly unknown[]): string =>
    JSON.stringify([replaceAt(sample('updates-3.4', 'wire', 0), 'update.Transaction.value.events', events)]);

  it('are all decoded from their wire format', () => {
    marbles(({ flush }) => {
      const [created, archived] = [event(0), event(1)];
      const seen = read(withEvents(created, archived, created, archived, created, archived, created));
      flush();
      const [update] = seen.values;
      expect(update?._tag === 'Transaction' && update.events.map(({ _tag }) => _tag)).toEqual([
        'CreatedEvent',
        'ArchivedEvent',
        'CreatedEvent',
        'ArchivedEvent',
        'CreatedEvent',
        'ArchivedEvent',
        'CreatedEvent',
      ]);
    });
  });

  it('in another format make the update invalid, never an update without events', () => {
    marbles(({ flush }) => {
      const seen = read(
        withEvents({ CreatedEvent: { value: sample('updates-3.4', 'wire', 0, 'update', 'Transaction', 'value') } }),
      );
      flush();
      expect(seen.values).toMatchObject([{ _tag: 'InvalidUpdate', offset: 21 }]);
    });
  });

  it('are decoded for any owner and any payload', () => {
    marbles(({ flush }) => {
      const field = 'CreatedEvent.createArgument';
      const payloads = [{ issuer: 'bob::1220cd' }, {}, null, 'text', []];
      const seen = read(withEvents(...payloads.map((payload) => replaceAt(event(0), field, payload))));
      flush();
      expect(seen.values).toMatchObject([{ events: payloads.map(() => ({ _tag: 'CreatedEvent' })) }]);
    });
  });

  it('of a reassignment keep its counter, which is not an offset', () => {
    marbles(({ flush }) => {
      const field = 'update.Reassignment.value.events.0.JsAssignmentEvent.reassignmentCounter';
      const seen = read(JSON.stringify([replaceAt(sample('updates-3.6', 'wire', 2), field, 7)]));
      flush();
      expect(seen.values).toMatchObject([{ offset: 43, events: [{ reassignmentCounter: 7 }] }]);
    });
  });
});

describe('an unknown variant', () => {
  it('does not end the feed, which emits the updates after it', () => {
    marbles(({ flush }) => {
      const { ledger, feed } = world();
      fill(ledger, 1);
      ledger.append(2, unknownVariant(2));
      fill(ledger, 3);
      const seen = observe(feed().pipe(takeUntil(timer(100))));
      flush();
      expect(seen.error).toBeUndefined();
      expect(offsets(seen.values)).toEqual([1, 2, 3]);
    });
  });
});
