import { describe, expect, it } from '@jest/globals';
import { ArchivedEvent, CreatedEvent, ExercisedEvent, InterfaceView } from '../../src/codecs/Event.js';
import { AssignedEvent, Reassignment, UnassignedEvent } from '../../src/codecs/Reassignment.js';
import { Transaction } from '../../src/codecs/Transaction.js';
import { JsCantonError } from '../../src/codecs/JsCantonError.js';
import { LedgerEnd, OffsetCheckpoint } from '../../src/codecs/OffsetCheckpoint.js';
import { PreparedSubmission } from '../../src/codecs/SubmissionRequest.js';
import { TopologyTransaction } from '../../src/codecs/TopologyTransaction.js';
import { Update, UpdateElement } from '../../src/codecs/Update.js';
import { anyCodec, type AnyCodec, decode, problemsIn, replaceAt, sample } from './support.js';

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
  'value',
);
const assigned = sample('updates-3.6', 'wire', 2, 'update', 'Reassignment', 'value', 'events', 0, 'JsAssignmentEvent');
const words = (text: string): string[] => text.split(' ');
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
    required: words('updateId effectiveAt events offset synchronizerId recordTime'),
    optional: words('commandId workflowId traceContext externalTransactionHash paidTrafficCost transactionHash'),
    lists: [],
  },
  {
    codec: anyCodec(CreatedEvent),
    wire: sample('updates-3.5', 'wire', 0, 'update', 'Transaction', 'value', 'events', 0, 'CreatedEvent'),
    required: words('offset nodeId contractId templateId packageName createdAt'),
    optional: words('contractKey contractKeyHash createArgument createdEventBlob representativePackageId acsDelta'),
    lists: words('interfaceViews witnessParties signatories observers'),
  },
  {
    codec: anyCodec(ArchivedEvent),
    wire: sample('updates-3.6', 'wire', 0, 'update', 'Transaction', 'value', 'events', 1, 'ArchivedEvent'),
    required: words('offset nodeId contractId templateId packageName'),
    optional: [],
    lists: words('witnessParties implementedInterfaces'),
  },
  {
    codec: anyCodec(ExercisedEvent),
    wire: sample('updates-3.5', 'wire', 1, 'update', 'Transaction', 'value', 'events', 0, 'ExercisedEvent'),
    required: words('offset nodeId contractId templateId packageName choice consuming lastDescendantNodeId'),
    optional: words('interfaceId choiceArgument exerciseResult acsDelta'),
    lists: words('actingParties witnessParties implementedInterfaces'),
  },
  {
    codec: anyCodec(Reassignment),
    wire: sample('updates-3.6', 'wire', 1, 'update', 'Reassignment', 'value'),
    required: words('updateId offset recordTime'),
    optional: words('commandId workflowId traceContext synchronizerId paidTrafficCost'),
    lists: words('events'),
  },
  {
    codec: anyCodec(UnassignedEvent),
    wire: unassigned,
    required: words('reassignmentId contractId packageName source target reassignmentCounter offset nodeId'),
    optional: words('templateId submitter assignmentExclusivity'),
    lists: words('witnessParties'),
  },
  {
    codec: anyCodec(AssignedEvent),
    wire: assigned,
    required: words('source target reassignmentId reassignmentCounter createdEvent'),
    optional: words('submitter'),
    lists: [],
  },
  {
    codec: anyCodec(TopologyTransaction),
    wire: sample('updates-3.4', 'wire', 3, 'update', 'TopologyTransaction', 'value'),
    required: words('updateId offset synchronizerId recordTime'),
    optional: words('traceContext'),
    lists: words('events'),
  },
  {
    codec: anyCodec(OffsetCheckpoint),
    wire: sample('updates-3.4', 'wire', 4, 'update', 'OffsetCheckpoint', 'value'),
    required: words('offset'),
    optional: [],
    lists: words('synchronizerTimes'),
  },
  {
    codec: anyCodec(JsCantonError),
    wire: sample('errors', 'in-flight', 'wire'),
    required: words('code cause errorCategory'),
    optional: words('correlationId traceId resources grpcCodeValue retryInfo definiteAnswer'),
    lists: [],
  },
  {
    codec: anyCodec(PreparedSubmission),
    wire: sample('prepare-response', 'wire'),
    required: words('preparedTransaction preparedTransactionHash hashingSchemeVersion'),
    optional: words('hashingDetails costEstimation'),
    lists: [],
  },
  {
    codec: anyCodec(LedgerEnd),
    wire: sample('ledger-end-3.6', 'wire'),
    required: [],
    optional: [],
    lists: words('synchronizerTimes'),
  },
];
const cases = (which: 'required' | 'optional' | 'lists') =>
  messages.flatMap(({ codec, wire, ...fields }) =>
    fields[which].map((field) => ({ name: codec.name, codec, wire, field })),
  );

describe('an absent field', () => {
  it.each(cases('optional'))('$field of $name is optional, and null is the same', ({ codec, wire, field }) => {
    const without = decode(codec, replaceAt(wire, field, undefined));
    expect(without).not.toHaveProperty([field]);
    expect(decode(codec, replaceAt(wire, field, null))).toStrictEqual(without);
    expect(codec.encode(without)).not.toHaveProperty([field]);
  });

  it.each(cases('lists'))('$field of $name decodes to an empty list, and so does null', ({ codec, wire, field }) => {
    const without = decode(codec, replaceAt(wire, field, undefined));
    expect(without).toHaveProperty([field], []);
    expect(decode(codec, replaceAt(wire, field, null))).toStrictEqual(without);
    expect(codec.encode(without)).toHaveProperty([field], []);
  });

  it.each(cases('required'))('$field of $name is an error, and so is null', ({ codec, wire, field }) => {
    const without = problemsIn(codec, replaceAt(wire, field, undefined));
    expect(without).toHaveLength(1);
    expect(without[0]).toMatch(new RegExp(`^${field}: expected `));
    expect(problemsIn(codec, replaceAt(wire, field, null))).toStrictEqual(without);
  });

  it('events of a transaction with eventsById is an error', () => {
    const byId = replaceAt(replaceAt(transaction, 'events', undefined), 'eventsById', {});
    expect(problemsIn(Transaction, byId)).toStrictEqual(['events: expected Array<TransactionEvent>']);
    expect(problemsIn(UpdateElement, { update: { Transaction: { value: byId } } })).toStrictEqual([
      'update.Transaction.value.events: expected Array<TransactionEvent>',
    ]);
    expect(decode(Transaction, replaceAt(transaction, 'events', []))).toHaveProperty('events', []);
  });

  it('context of an error decodes to an empty object', () => {
    const wire = replaceAt(sample('errors', 'redacted', 'wire'), 'context', null);
    expect(decode(JsCantonError, wire)).toHaveProperty('context', {});
  });

  it('offset of a ledger end decodes to the beginning of the ledger', () => {
    expect(decode(LedgerEnd, {})).toStrictEqual({ offset: 0, synchronizerTimes: [] });
    expect(problemsIn(LedgerEnd, { status: 'ok' })).toHaveLength(1);
    expect(problemsIn(LedgerEnd, { offset: 2 ** 53 })).toHaveLength(1);
    expect(decode(LedgerEnd, { offset: 7, later: true })).toMatchObject({ offset: 7 });
  });

  it('reassignmentId is read under its former name', () => {
    for (const [codec, wire] of [
      [anyCodec(UnassignedEvent), unassigned],
      [anyCodec(AssignedEvent), assigned],
    ] as const) {
      const formerly = replaceAt(replaceAt(wire, 'reassignmentId', undefined), 'unassignId', '0042');
      expect(decode(codec, formerly)).toHaveProperty('reassignmentId', '0042');
      expect(decode(codec, formerly)).not.toHaveProperty('unassignId');
      expect(problemsIn(codec, replaceAt(formerly, 'unassignId', 42))).toStrictEqual([
        'reassignmentId: expected string',
      ]);
    }
  });
});

/** Fields of Daml, or of any JSON. */
const anyJson = ['contractKey', 'createArgument', 'choiceArgument', 'exerciseResult', 'resources'];

describe('a field of another type', () => {
  it.each((['required', 'optional', 'lists'] as const).flatMap(cases).filter(({ field }) => !anyJson.includes(field)))(
    '$field of $name is an error',
    ({ codec, wire, field }) => {
      // no text, no offset, no flag, no list and no object
      const found = problemsIn(codec, replaceAt(wire, field, -0.5));
      expect(found).toStrictEqual([expect.stringMatching(new RegExp(`^${field}: expected `))]);
    },
  );
});

describe('the details of a view status', () => {
  const status = {
    code: 11,
    message: 'the view failed',
    details: [
      {
        typeUrl: 'type.googleapis.com/google.rpc.ErrorInfo',
        value: 'CgpTT01FX0VSUk9S',
        valueDecoded: { reason: 'SOME_ERROR', metadata: { category: '12' }, unknownFields: { fields: {} } },
        unknownFields: { fields: {} },
      },
      { typeUrl: 'type.googleapis.com/example.Other', value: '', valueDecoded: 'Unknown type for decoding' },
    ],
  };
  const view = { interfaceId: '1220f5:Holding:Holding', viewStatus: status };

  it('are decoded, and encoded to the same value', () => {
    expect(decode(InterfaceView, view)).toStrictEqual(view);
    expect(InterfaceView.encode(decode(InterfaceView, view))).toStrictEqual(view);
    expect(decode(InterfaceView, view).viewStatus.details?.[0]?.typeUrl).toBe(status.details[0]?.typeUrl);
  });

  it('may be absent or null', () => {
    const without = decode(InterfaceView, replaceAt(view, 'viewStatus.details', undefined));
    expect(without.viewStatus).toStrictEqual({ code: 11, message: 'the view failed' });
    expect(decode(InterfaceView, replaceAt(view, 'viewStatus.details', null))).toStrictEqual(without);
  });

  it('are checked', () => {
    expect(problemsIn(InterfaceView, replaceAt(view, 'viewStatus.details.1.typeUrl', 7))).toStrictEqual([
      'viewStatus.details.1.typeUrl: expected string',
    ]);
  });
});

describe('an unknown field', () => {
  it.each(messages.map(({ codec, wire }) => ({ name: codec.name, codec, wire })))(
    'of $name is kept by decoding and encoding',
    ({ codec, wire }) => {
      const more = replaceAt(replaceAt(wire, 'sinceThen', { any: ['thing', null] }), 'nothing', null);
      const value = decode(codec, more);
      expect(value).toMatchObject({ sinceThen: { any: ['thing', null] }, nothing: null });
      expect(codec.encode(value)).toMatchObject({ sinceThen: { any: ['thing', null] }, nothing: null });
    },
  );

  it('with any name is harmless', () => {
    const text = '{"offset":1,"__proto__":{"polluted":true},"constructor":null,"toString":1}';
    const value = decode(OffsetCheckpoint, JSON.parse(text));
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

  it('cannot supply a required one through the prototype', () => {
    expect(problemsIn(OffsetCheckpoint, JSON.parse('{"__proto__":{"offset":1}}'))).toStrictEqual([
      'offset: expected Offset, a whole number from 0 to 2^53 - 1',
    ]);
  });

  it('named _tag is replaced by the tag of the codec', () => {
    const value = decode(OffsetCheckpoint, { _tag: 'Transaction', offset: 1 });
    expect(value._tag).toBe('OffsetCheckpoint');
    expect(OffsetCheckpoint.encode(value)).not.toHaveProperty('_tag');
  });
});

describe('is', () => {
  it('rejects a value with another tag', () => {
    const value = decode(OffsetCheckpoint, { offset: 1 });
    expect(OffsetCheckpoint.is(value)).toBe(true);
    expect(OffsetCheckpoint.is({ ...value, _tag: 'Transaction' })).toBe(false);
    expect(Update.is({ ...value, _tag: 'constructor' })).toBe(false);
    expect(Update.is({ _tag: 'UnknownUpdate', variant: 'New', offset: -1, value: {} })).toBe(false);
  });

  it('rejects null in an optional field, which the wire has', () => {
    const value = decode(Transaction, transaction);
    expect(Transaction.is(value)).toBe(true);
    expect(Transaction.is({ ...value, paidTrafficCost: null })).toBe(false);
  });

  it('rejects the wire form', () => {
    expect(Transaction.is(transaction)).toBe(false);
    expect(UpdateElement.is(sample('updates-3.6', 'wire', 0))).toBe(false);
  });
});
