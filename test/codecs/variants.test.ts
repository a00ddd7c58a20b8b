import { describe, expect, it } from '@jest/globals';
import { TransactionEvent } from '../../src/codecs/Event.js';
import { ReassignmentEvent } from '../../src/codecs/Reassignment.js';
import { TopologyEvent } from '../../src/codecs/TopologyTransaction.js';
import { ExecuteResponse } from '../../src/codecs/Transaction.js';
import { headOfElement, Update, UpdateElement } from '../../src/codecs/Update.js';
import { anyCodec, decode, problemsIn, sample, toEntries } from './support.js';

const transaction = sample('updates-3.6', 'wire', 0, 'update', 'Transaction', 'value');

describe('an unknown variant', () => {
  const wires = [
    { form: 'in a value', content: { value: { offset: 9, more: null } } },
    { form: 'bare', content: { offset: 9, more: [1] } },
    { form: 'bare, beside a field that is called value', content: { offset: 9, value: { amount: '1' } } },
  ];
  const named = ['SnapshotMarker', '__proto__', 'constructor', 'UnknownUpdate'];
  const rows = named.flatMap((variant) => wires.map(({ form, content }) => ({ variant, form, content })));

  it.each(rows)('$variant of an update with an offset $form is passed on', ({ variant, content }) => {
    const value = decode(Update, { [variant]: content });
    expect(value).toStrictEqual({ _tag: 'UnknownUpdate', variant, offset: 9, value: content });
    expect(toEntries(Update.encode(value))).toStrictEqual({ object: [[variant, toEntries(content)]] });
    expect(headOfElement({ update: { [variant]: content } }).offset).toBe(9);
  });

  it.each(rows)('$variant of an event with an offset $form is passed on', ({ variant, content }) => {
    for (const codec of [anyCodec(TransactionEvent), anyCodec(ReassignmentEvent)]) {
      const value = decode(codec, { [variant]: content });
      expect(value).toStrictEqual({ _tag: 'UnknownEvent', variant, offset: 9, value: content });
    }
    expect(toEntries(TransactionEvent.encode(decode(TransactionEvent, { [variant]: content })))).toStrictEqual({
      object: [[variant, toEntries(content)]],
    });
  });

  it.each([null, 'text', [], {}, { offset: '9' }, { offset: -1 }, { value: { offset: 2 ** 53 } }, { value: null }])(
    'with the content %j has no offset and fails',
    (content) => {
      expect(problemsIn(UpdateElement, { update: { SnapshotMarker: content } })).toStrictEqual([
        'update.SnapshotMarker: expected an offset',
      ]);
      expect(problemsIn(TransactionEvent, { MarkedEvent: content })).toStrictEqual(['MarkedEvent: expected an offset']);
    },
  );

  it('of a topology event does not need an offset', () => {
    const event = { PartyRenamed: { value: { partyId: 'p' } } };
    const value = { _tag: 'UnknownTopologyEvent', variant: 'PartyRenamed', value: { value: { partyId: 'p' } } };
    expect(decode(TopologyEvent, { event })).toStrictEqual(value);
    expect(decode(TopologyEvent, event)).toStrictEqual(value);
    expect(TopologyEvent.encode(decode(TopologyEvent, event))).toStrictEqual({ event });
  });
});

describe('a one-of', () => {
  const checkpoint = { value: { offset: 1 } };

  it('with two keys fails', () => {
    const two = { OffsetCheckpoint: checkpoint, SnapshotMarker: checkpoint };
    expect(problemsIn(UpdateElement, { update: two })).toStrictEqual(['update: expected Update']);
    expect(problemsIn(TransactionEvent, { CreatedEvent: {}, ArchivedEvent: {} })).toStrictEqual([
      'expected TransactionEvent',
    ]);
    expect(problemsIn(TopologyEvent, { event: { One: {}, Other: {} } })).toStrictEqual([
      'event: expected TopologyEvent',
    ]);
  });

  it.each([null, [], [checkpoint], 'OffsetCheckpoint', 1, true, {}])('that is %j fails', (wire) => {
    expect(problemsIn(Update, wire)).toStrictEqual(['expected Update']);
    expect(problemsIn(TransactionEvent, wire)).toStrictEqual(['expected TransactionEvent']);
    expect(problemsIn(ReassignmentEvent, wire)).toStrictEqual(['expected ReassignmentEvent']);
  });

  it('requires the envelope of its variant', () => {
    expect(problemsIn(Update, { OffsetCheckpoint: { offset: 1 } })).toStrictEqual([
      'OffsetCheckpoint.value: expected OffsetCheckpoint',
    ]);
    expect(problemsIn(ReassignmentEvent, { JsUnassignedEvent: { offset: 1 } })).toStrictEqual([
      'JsUnassignedEvent.value: expected UnassignedEvent',
    ]);
  });

  it('without its envelope is not an element', () => {
    expect(problemsIn(UpdateElement, { OffsetCheckpoint: checkpoint })).toStrictEqual(['update: expected Update']);
    expect(problemsIn(ExecuteResponse, transaction)).toStrictEqual(['transaction: expected Transaction']);
  });
});

describe('headOfElement', () => {
  it.each([
    null,
    'text',
    {},
    { update: null },
    { update: {} },
    { update: { Transaction: { value: { offset: 'x' } } } },
  ])('finds no offset in %j', (element) => {
    expect(headOfElement(element).offset).toBeUndefined();
  });

  it('finds the offset of an element that cannot be decoded', () => {
    const element = { update: { Transaction: { value: { offset: 7 } } } };
    expect(problemsIn(UpdateElement, element)).not.toStrictEqual([]);
    expect(headOfElement(element).offset).toBe(7);
  });
});
