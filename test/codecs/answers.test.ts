import { describe, expect, it } from '@jest/globals';
import * as event from '../../src/codecs/Event.js';
import { JsCantonError } from '../../src/codecs/JsCantonError.js';
import { LedgerEnd, OffsetCheckpoint } from '../../src/codecs/OffsetCheckpoint.js';
import { AssignedEvent, Reassignment, UnassignedEvent } from '../../src/codecs/Reassignment.js';
import { PreparedSubmission } from '../../src/codecs/SubmissionRequest.js';
import { TopologyTransaction } from '../../src/codecs/TopologyTransaction.js';
import { Transaction } from '../../src/codecs/Transaction.js';
import { Update, UpdateElement } from '../../src/codecs/Update.js';
import { anyCodec, type AnyCodec, decode, problemsIn, replaceAt, sample } from './support.js';

/** A part of the update of a release at an index. */
const partOf = (release: string, index: number, path: string): unknown =>
  sample(`updates-${release}`, 'wire', index, 'update', ...path.split('.'));
const transaction = partOf('3.6', 0, 'Transaction.value');
const unassigned = partOf('3.6', 1, 'Reassignment.value.events.0.JsUnassignedEvent.value');
const assigned = partOf('3.6', 2, 'Reassignment.value.events.0.JsAssignmentEvent');

const errorInfo = {
  typeUrl: 'type.googleapis.com/google.rpc.ErrorInfo',
  value: 'CgpTT01FX0VSUk9S',
  valueDecoded: { reason: 'SOME_ERROR', metadata: { category: '12' }, unknownFields: { fields: {} } },
  unknownFields: { fields: {} },
};
const view = {
  interfaceId: '1220f5:Holding:Holding',
  viewStatus: { code: 11, message: 'the view failed', details: [errorInfo] },
};

const words = (text = ''): readonly string[] => text.split(' ').filter((word) => word !== '');

/** A codec, a sample of it, and the names of its fields: those that are required, optional and lists. */
const messages = (
  [
    [
      anyCodec(Transaction),
      transaction,
      'updateId effectiveAt events offset synchronizerId recordTime',
      'commandId workflowId traceContext externalTransactionHash paidTrafficCost transactionHash',
    ],
    [
      anyCodec(event.CreatedEvent),
      partOf('3.5', 0, 'Transaction.value.events.0.CreatedEvent'),
      'offset nodeId contractId templateId packageName createdAt',
      'contractKeyHash createArgument createdEventBlob representativePackageId acsDelta',
      'interfaceViews witnessParties signatories observers',
    ],
    [
      anyCodec(event.ArchivedEvent),
      partOf('3.6', 0, 'Transaction.value.events.1.ArchivedEvent'),
      'offset nodeId contractId templateId packageName',
      '',
      'witnessParties implementedInterfaces',
    ],
    [
      anyCodec(event.ExercisedEvent),
      partOf('3.5', 1, 'Transaction.value.events.0.ExercisedEvent'),
      'offset nodeId contractId templateId packageName choice consuming lastDescendantNodeId',
      'interfaceId choiceArgument exerciseResult acsDelta',
      'actingParties witnessParties implementedInterfaces',
    ],
    [
      anyCodec(Reassignment),
      partOf('3.6', 1, 'Reassignment.value'),
      'updateId offset recordTime',
      'commandId workflowId traceContext synchronizerId paidTrafficCost',
      'events',
    ],
    [
      anyCodec(UnassignedEvent),
      unassigned,
      'reassignmentId contractId packageName source target reassignmentCounter offset nodeId',
      'templateId submitter assignmentExclusivity',
      'witnessParties',
    ],
    [anyCodec(AssignedEvent), assigned, 'source target reassignmentId reassignmentCounter createdEvent', 'submitter'],
    [
      anyCodec(TopologyTransaction),
      partOf('3.4', 3, 'TopologyTransaction.value'),
      'updateId offset synchronizerId recordTime',
      'traceContext',
      'events',
    ],
    [anyCodec(OffsetCheckpoint), partOf('3.4', 4, 'OffsetCheckpoint.value'), 'offset', '', 'synchronizerTimes'],
    [
      anyCodec(JsCantonError),
      sample('errors', 'in-flight', 'wire'),
      'code cause errorCategory',
      'correlationId traceId resources grpcCodeValue retryInfo definiteAnswer',
    ],
    [
      anyCodec(PreparedSubmission),
      sample('prepare-response', 'wire'),
      'preparedTransaction preparedTransactionHash hashingSchemeVersion',
      'hashingDetails costEstimation',
    ],
    [
      anyCodec(event.InterfaceView),
      view,
      'interfaceId viewStatus viewStatus.code',
      'viewStatus.message viewStatus.details viewStatus.details.0.typeUrl viewStatus.details.0.value',
    ],
    [anyCodec(LedgerEnd), sample('ledger-end-3.6', 'wire'), '', '', 'synchronizerTimes'],
  ] satisfies [AnyCodec, unknown, string, string, string?][]
).map(([codec, wire, required, optional, lists]) => ({
  ...{ name: codec.name, codec, wire },
  ...{ required: words(required), optional: words(optional), lists: words(lists) },
}));
const cases = (which: 'required' | 'optional' | 'lists') =>
  messages.flatMap(({ name, codec, wire, ...fields }) => fields[which].map((field) => ({ name, codec, wire, field })));

describe('an absent field', () => {
  it.each(cases('optional'))('$field of $name is optional, and null is the same', ({ codec, wire, field }) => {
    const without = decode(codec, replaceAt(wire, field, undefined));
    expect(without).not.toHaveProperty(field);
    expect(decode(codec, replaceAt(wire, field, null))).toStrictEqual(without);
    expect(codec.encode(without)).not.toHaveProperty(field);
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

describe('an unknown field', () => {
  it.each(messages)('of $name is kept by decoding and encoding', ({ codec, wire }) => {
    const unknown = { sinceThen: { any: ['thing', null] }, nothing: null };
    const value = decode(codec, { ...(wire as object), ...unknown });
    expect(value).toMatchObject(unknown);
    expect(codec.encode(value)).toMatchObject(unknown);
  });

  it('with any name is harmless', () => {
    const text = '{"offset":1,"__proto__":{"polluted":true},"constructor":null,"toString":1';
    const value = decode(OffsetCheckpoint, JSON.parse(`${text}}`));
    expect(value).not.toHaveProperty('polluted');
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(Object.keys(value).sort().join(' ')).toBe('__proto__ _tag constructor offset synchronizerTimes toString');
    expect(JSON.stringify(OffsetCheckpoint.encode(value))).toBe(`${text},"synchronizerTimes":[]}`);
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

describe('a contract key', () => {
  const created = partOf('3.6', 0, 'Transaction.value.events.0.CreatedEvent');
  const codec = event.CreatedEvent;

  it.each([
    ['None, which is null with a hash', { contractKey: null, contractKeyHash: '3q2+7w==' }, null],
    ['absent, with a hash', { contractKey: undefined, contractKeyHash: '3q2+7w==' }, undefined],
    ['null without a hash: there is none', { contractKey: null, contractKeyHash: '' }, undefined],
    ['null before there were hashes: there is none', { contractKey: null, contractKeyHash: undefined }, undefined],
    ['a value', { contractKey: { id: '7' }, contractKeyHash: '3q2+7w==' }, { id: '7' }],
  ])('that is %s stays so, also encoded', (_, fields, expected) => {
    const wire: unknown = JSON.parse(JSON.stringify({ ...(created as object), ...fields }));
    const decoded = decode(codec, wire);
    expect('contractKey' in decoded).toBe(expected !== undefined);
    expect(decoded.contractKey).toEqual(expected);
    expect(codec.is(decoded)).toBe(true);
    const encoded = codec.encode(decoded) as object;
    expect('contractKey' in encoded).toBe(expected !== undefined);
    expect(decode(codec, encoded)).toStrictEqual(decoded);
  });
});
