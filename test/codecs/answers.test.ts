import { describe, expect, it } from '@jest/globals';
import * as t from 'io-ts';
import { ArchivedEvent, CreatedEvent, Event, ExercisedEvent } from '../../src/codecs/Event.js';
import { AssignedEvent, Reassignment, ReassignmentEvent, UnassignedEvent } from '../../src/codecs/Reassignment.js';
import { ExecuteResponse, Transaction } from '../../src/codecs/Transaction.js';
import { JsCantonError } from '../../src/codecs/JsCantonError.js';
import { LedgerEnd, OffsetCheckpoint } from '../../src/codecs/OffsetCheckpoint.js';
import { PreparedSubmission } from '../../src/codecs/PreparedSubmission.js';
import { TopologyEvent, TopologyTransaction } from '../../src/codecs/TopologyTransaction.js';
import { offsetOfElement, Update, UpdateElement } from '../../src/codecs/Update.js';
import { anyCodec, type AnyCodec, decoded, entries, problems, replaced, sample } from './support.js';

const transaction = sample('updates-3.6', 'wire', 0, 'update', 'Transaction', 'value');
const unassigned = sample(
  'updates-3.6',
  'wire',
  1,
  'update',
  'Reassignment',
  'value',
  'events',
  0,
  'JsUnassignedEvent',
);
const assigned = sample('updates-3.6', 'wire', 2, 'update', 'Reassignment', 'value', 'events', 0, 'JsAssignmentEvent');
const messages: readonly {
  codec: AnyCodec;
  wire: unknown;
  required: readonly string[];
  optional: readonly string[];
  lists: readonly string[];
}[] = [
  {
    codec: anyCodec(Transaction),
    wire: transaction,
    required: ['updateId', 'effectiveAt', 'offset', 'synchronizerId', 'recordTime'],
    optional: [
      'commandId',
      'workflowId',
      'traceContext',
      'externalTransactionHash',
      'paidTrafficCost',
      'transactionHash',
    ],
    lists: ['events'],
  },
  {
    codec: anyCodec(CreatedEvent),
    wire: sample('updates-3.5', 'wire', 0, 'update', 'Transaction', 'value', 'events', 0, 'CreatedEvent'),
    required: ['offset', 'nodeId', 'contractId', 'templateId', 'packageName', 'createdAt'],
    optional: [
      'contractKey',
      'contractKeyHash',
      'createArgument',
      'createdEventBlob',
      'representativePackageId',
      'acsDelta',
    ],
    lists: ['interfaceViews', 'witnessParties', 'signatories', 'observers'],
  },
  {
    codec: anyCodec(ArchivedEvent),
    wire: sample('updates-3.6', 'wire', 0, 'update', 'Transaction', 'value', 'events', 1, 'ArchivedEvent'),
    required: ['offset', 'nodeId', 'contractId', 'templateId', 'packageName'],
    optional: [],
    lists: ['witnessParties', 'implementedInterfaces'],
  },
  {
    codec: anyCodec(ExercisedEvent),
    wire: sample('updates-3.5', 'wire', 1, 'update', 'Transaction', 'value', 'events', 0, 'ExercisedEvent'),
    required: [
      'offset',
      'nodeId',
      'contractId',
      'templateId',
      'packageName',
      'choice',
      'consuming',
      'lastDescendantNodeId',
    ],
    optional: ['interfaceId', 'choiceArgument', 'exerciseResult', 'acsDelta'],
    lists: ['actingParties', 'witnessParties', 'implementedInterfaces'],
  },
  {
    codec: anyCodec(Reassignment),
    wire: sample('updates-3.6', 'wire', 1, 'update', 'Reassignment', 'value'),
    required: ['updateId', 'offset', 'recordTime'],
    optional: ['commandId', 'workflowId', 'traceContext', 'synchronizerId', 'paidTrafficCost'],
    lists: ['events'],
  },
  {
    codec: anyCodec(UnassignedEvent),
    wire: t.record(t.string, t.unknown).is(unassigned) ? unassigned['value'] : undefined,
    required: [
      'reassignmentId',
      'contractId',
      'packageName',
      'source',
      'target',
      'reassignmentCounter',
      'offset',
      'nodeId',
    ],
    optional: ['templateId', 'submitter', 'assignmentExclusivity'],
    lists: ['witnessParties'],
  },
  {
    codec: anyCodec(AssignedEvent),
    wire: assigned,
    required: ['source', 'target', 'reassignmentId', 'reassignmentCounter', 'createdEvent'],
    optional: ['submitter'],
    lists: [],
  },
  {
    codec: anyCodec(TopologyTransaction),
    wire: sample('updates-3.4', 'wire', 3, 'update', 'TopologyTransaction', 'value'),
    required: ['updateId', 'offset', 'synchronizerId', 'recordTime'],
    optional: ['traceContext'],
    lists: ['events'],
  },
  {
    codec: anyCodec(OffsetCheckpoint),
    wire: sample('updates-3.4', 'wire', 4, 'update', 'OffsetCheckpoint', 'value'),
    required: ['offset'],
    optional: [],
    lists: ['synchronizerTimes'],
  },
  {
    codec: anyCodec(JsCantonError),
    wire: sample('errors', 'in-flight', 'wire'),
    required: ['code', 'cause', 'errorCategory'],
    optional: ['correlationId', 'traceId', 'resources', 'grpcCodeValue', 'retryInfo', 'definiteAnswer'],
    lists: [],
  },
  {
    codec: anyCodec(PreparedSubmission),
    wire: sample('prepare-response', 'wire'),
    required: ['preparedTransaction', 'preparedTransactionHash', 'hashingSchemeVersion'],
    optional: ['hashingDetails', 'costEstimation'],
    lists: [],
  },
  {
    codec: anyCodec(LedgerEnd),
    wire: sample('ledger-end-3.6', 'wire'),
    required: [],
    optional: [],
    lists: ['synchronizerTimes'],
  },
];
const cases = (which: 'required' | 'optional' | 'lists') =>
  messages.flatMap(({ codec, wire, ...fields }) =>
    fields[which].map((field) => ({ name: codec.name, codec, wire, field })),
  );

describe('an absent field', () => {
  it.each(cases('optional'))('$field of $name is optional, and null is absent', ({ codec, wire, field }) => {
    const without = decoded(codec, replaced(wire, field, undefined));
    expect(without).not.toHaveProperty([field]);
    expect(decoded(codec, replaced(wire, field, null))).toStrictEqual(without);
    expect(codec.encode(without)).not.toHaveProperty([field]);
  });

  it.each(cases('lists'))('$field of $name is an empty list, and so is null', ({ codec, wire, field }) => {
    const without = decoded(codec, replaced(wire, field, undefined));
    expect(without).toHaveProperty([field], []);
    expect(decoded(codec, replaced(wire, field, null))).toStrictEqual(without);
    expect(codec.encode(without)).toHaveProperty([field], []);
  });

  it.each(cases('required'))('$field of $name is a failure, and so is null', ({ codec, wire, field }) => {
    const without = problems(codec, replaced(wire, field, undefined));
    expect(without).toHaveLength(1);
    expect(without[0]).toMatch(new RegExp(`^${field}: expected `));
    expect(problems(codec, replaced(wire, field, null))).toStrictEqual(without);
  });

  it('context of an error is empty', () => {
    const wire = replaced(sample('errors', 'redacted', 'wire'), 'context', null);
    expect(decoded(JsCantonError, wire)).toHaveProperty('context', {});
  });

  it('offset of a ledger end is the begin of the ledger', () => {
    expect(decoded(LedgerEnd, {})).toStrictEqual({ offset: 0, synchronizerTimes: [] });
    expect(LedgerEnd.decode({ status: 'ok' })._tag).toBe('Left');
    expect(decoded(LedgerEnd, { offset: 7, later: true })).toMatchObject({ offset: 7 });
  });

  it('reassignmentId stands under its former name', () => {
    for (const [codec, wire] of [
      [anyCodec(UnassignedEvent), messages[5]?.wire],
      [anyCodec(AssignedEvent), assigned],
    ] as const) {
      const formerly = replaced(replaced(wire, 'reassignmentId', undefined), 'unassignId', '0042');
      expect(decoded(codec, formerly)).toHaveProperty('reassignmentId', '0042');
      expect(decoded(codec, formerly)).not.toHaveProperty('unassignId');
      expect(problems(codec, replaced(formerly, 'unassignId', 42))).toStrictEqual(['reassignmentId: expected string']);
    }
  });
});

describe('an unknown field', () => {
  it.each(messages.map(({ codec, wire }) => ({ name: codec.name, codec, wire })))(
    'of $name is kept, decoding and encoding',
    ({ codec, wire }) => {
      const more = replaced(replaced(wire, 'sinceThen', { any: ['thing', null] }), 'nothing', null);
      const value = decoded(codec, more);
      expect(value).toMatchObject({ sinceThen: { any: ['thing', null] }, nothing: null });
      expect(codec.encode(value)).toMatchObject({ sinceThen: { any: ['thing', null] }, nothing: null });
    },
  );

  it('of any name is harmless', () => {
    const text = '{"offset":1,"__proto__":{"polluted":true},"constructor":null,"toString":1}';
    const value = decoded(OffsetCheckpoint, JSON.parse(text));
    expect(value).not.toHaveProperty('polluted');
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(Object.keys(value).sort()).toStrictEqual(
      ['__proto__', '_tag', 'constructor', 'offset', 'synchronizerTimes', 'toString'].sort(),
    );
    expect(JSON.stringify(OffsetCheckpoint.encode(value))).toBe(
      '{"offset":1,"__proto__":{"polluted":true},"constructor":null,"toString":1,"synchronizerTimes":[]}',
    );
    expect(Object.keys({})).toStrictEqual([]);
  });

  it('cannot pose as a required one that is inherited', () => {
    expect(problems(OffsetCheckpoint, JSON.parse('{"__proto__":{"offset":1}}'))).toStrictEqual([
      'offset: expected Offset, a whole number from 0 to 2^53 - 1',
    ]);
  });

  it('named _tag gives way to ours', () => {
    const value = decoded(OffsetCheckpoint, { _tag: 'Transaction', offset: 1 });
    expect(value._tag).toBe('OffsetCheckpoint');
    expect(OffsetCheckpoint.encode(value)).not.toHaveProperty('_tag');
  });
});

describe('an unknown variant', () => {
  const wires = [
    { form: 'in a value', content: { value: { offset: 9, more: null } } },
    { form: 'bare', content: { offset: 9, more: [1] } },
    { form: 'bare, beside a field that is called value', content: { offset: 9, value: { amount: '1' } } },
  ];
  const named = ['SnapshotMarker', '__proto__', 'constructor', 'UnknownUpdate'];
  const rows = named.flatMap((variant) => wires.map(({ form, content }) => ({ variant, form, content })));

  it.each(rows)('$variant of an update with an offset $form is passed on', ({ variant, content }) => {
    const value = decoded(Update, { [variant]: content });
    expect(value).toStrictEqual({ _tag: 'UnknownUpdate', variant, offset: 9, value: content });
    expect(entries(Update.encode(value))).toStrictEqual({ object: [[variant, entries(content)]] });
    expect(offsetOfElement({ update: { [variant]: content } })).toBe(9);
  });

  it.each(rows)('$variant of an event with an offset $form is passed on', ({ variant, content }) => {
    for (const codec of [anyCodec(Event), anyCodec(ReassignmentEvent)]) {
      const value = decoded(codec, { [variant]: content });
      expect(value).toStrictEqual({ _tag: 'UnknownEvent', variant, offset: 9, value: content });
    }
    expect(entries(Event.encode(decoded(Event, { [variant]: content })))).toStrictEqual({
      object: [[variant, entries(content)]],
    });
  });

  it.each([null, 'text', [], {}, { offset: '9' }, { offset: -1 }, { value: { offset: 2 ** 53 } }, { value: null }])(
    'with the content %j has no offset and fails',
    (content) => {
      expect(problems(UpdateElement, { update: { SnapshotMarker: content } })).toStrictEqual([
        'update.SnapshotMarker: expected an offset',
      ]);
      expect(problems(Event, { MarkedEvent: content })).toStrictEqual(['MarkedEvent: expected an offset']);
    },
  );

  it('of a topology event needs no offset', () => {
    const event = { PartyRenamed: { value: { partyId: 'p' } } };
    const value = { _tag: 'UnknownTopologyEvent', variant: 'PartyRenamed', value: { value: { partyId: 'p' } } };
    expect(decoded(TopologyEvent, { event })).toStrictEqual(value);
    expect(decoded(TopologyEvent, event)).toStrictEqual(value);
    expect(TopologyEvent.encode(decoded(TopologyEvent, event))).toStrictEqual({ event });
  });
});

describe('a one-of', () => {
  const checkpoint = { value: { offset: 1 } };

  it('with two keys fails', () => {
    const two = { OffsetCheckpoint: checkpoint, SnapshotMarker: checkpoint };
    expect(problems(UpdateElement, { update: two })).toStrictEqual(['update: expected Update']);
    expect(problems(Event, { CreatedEvent: {}, ArchivedEvent: {} })).toStrictEqual(['expected Event']);
    expect(problems(TopologyEvent, { event: { One: {}, Other: {} } })).toStrictEqual(['event: expected TopologyEvent']);
  });

  it.each([null, [], [checkpoint], 'OffsetCheckpoint', 1, true, {}])('that is %j fails', (wire) => {
    expect(problems(Update, wire)).toStrictEqual(['expected Update']);
    expect(problems(Event, wire)).toStrictEqual(['expected Event']);
    expect(problems(ReassignmentEvent, wire)).toStrictEqual(['expected ReassignmentEvent']);
  });

  it('wants the wrapper of its variant', () => {
    expect(problems(Update, { OffsetCheckpoint: { offset: 1 } })).toStrictEqual([
      'OffsetCheckpoint.value: expected OffsetCheckpoint',
    ]);
    expect(problems(ReassignmentEvent, { JsUnassignedEvent: { offset: 1 } })).toStrictEqual([
      'JsUnassignedEvent.value: expected UnassignedEvent',
    ]);
  });

  it('is not taken for an element without its envelope', () => {
    expect(problems(UpdateElement, { OffsetCheckpoint: checkpoint })).toStrictEqual(['update: expected Update']);
    expect(problems(ExecuteResponse, transaction)).toStrictEqual(['transaction: expected Transaction']);
  });
});

describe('is', () => {
  it('refuses a value whose tag is not its own', () => {
    const value = decoded(OffsetCheckpoint, { offset: 1 });
    expect(OffsetCheckpoint.is(value)).toBe(true);
    expect(OffsetCheckpoint.is({ ...value, _tag: 'Transaction' })).toBe(false);
    expect(Update.is({ ...value, _tag: 'constructor' })).toBe(false);
    expect(Update.is({ _tag: 'UnknownUpdate', variant: 'New', offset: -1, value: {} })).toBe(false);
  });

  it('refuses the null of the wire, which is an absent field', () => {
    const value = decoded(Transaction, transaction);
    expect(Transaction.is(value)).toBe(true);
    expect(Transaction.is({ ...value, paidTrafficCost: null })).toBe(false);
  });

  it('refuses the wire form', () => {
    expect(Transaction.is(transaction)).toBe(false);
    expect(UpdateElement.is(sample('updates-3.6', 'wire', 0))).toBe(false);
  });
});

describe('offsetOfElement', () => {
  it.each([
    null,
    'text',
    {},
    { update: null },
    { update: {} },
    { update: { Transaction: { value: { offset: 'x' } } } },
  ])('reads none from %j', (element) => {
    expect(offsetOfElement(element)).toBeUndefined();
  });

  it('reads that of an element that does not decode', () => {
    const element = { update: { Transaction: { value: { offset: 7 } } } };
    expect(problems(UpdateElement, element)).not.toStrictEqual([]);
    expect(offsetOfElement(element)).toBe(7);
  });
});
