import { describe, expect, it } from '@jest/globals';
import * as t from 'io-ts';
import { ExecuteRequest } from '../../src/codecs/ExecuteRequest.js';
import { ExecuteResponse } from '../../src/codecs/Transaction.js';
import { JsCantonError } from '../../src/codecs/JsCantonError.js';
import { LedgerEnd } from '../../src/codecs/OffsetCheckpoint.js';
import { PreparedSubmission, PrepareRequest } from '../../src/codecs/SubmissionRequest.js';
import { UpdateElement } from '../../src/codecs/Update.js';
import { UpdatesRequest } from '../../src/codecs/UpdatesRequest.js';
import { anyCodec, decode, problemsIn, replaceAt, sample, dropNulls } from './support.js';

const Updates = t.readonlyArray(UpdateElement);

const answers = [
  { name: 'updates-3.4', codec: anyCodec(Updates) },
  { name: 'updates-3.5', codec: anyCodec(Updates) },
  { name: 'updates-3.6', codec: anyCodec(Updates) },
  { name: 'updates-of-a-newer-ledger', codec: anyCodec(Updates) },
  { name: 'execute-response', codec: anyCodec(ExecuteResponse) },
  { name: 'execute-response-no-events', codec: anyCodec(ExecuteResponse) },
  { name: 'prepare-response', codec: anyCodec(PreparedSubmission) },
  { name: 'ledger-end-3.6', codec: anyCodec(LedgerEnd) },
];
const former = [
  { name: 'updates-3.3', codec: anyCodec(Updates) },
  { name: 'ledger-end-3.5', codec: anyCodec(LedgerEnd) },
];

describe('answers', () => {
  it.each([...answers, ...former])('$name decodes', ({ name, codec }) => {
    expect(decode(codec, sample(name, 'wire'))).toStrictEqual(sample(name, 'decoded'));
  });

  it.each(answers)('$name is the result of encoding, without the nulls', ({ name, codec }) => {
    const encoded = codec.encode(sample(name, 'decoded'));
    expect(dropNulls(encoded)).toStrictEqual(dropNulls(sample(name, 'wire')));
  });

  it.each(former)('$name decodes from the current form', ({ name, codec }) => {
    const value = sample(name, 'decoded');
    expect(decode(codec, codec.encode(value))).toStrictEqual(value);
  });

  it('encodes answers of 3.3 to the form of 3.4 and later', () => {
    const encoded = Updates.encode(decode(Updates, sample('updates-3.3', 'wire')));
    expect(encoded).toHaveProperty('2.update.Reassignment.value.events.0.JsUnassignedEvent.value.reassignmentId');
    expect(encoded).not.toHaveProperty('2.update.Reassignment.value.events.0.JsUnassignedEvent.value.unassignId');
    expect(encoded).toHaveProperty('3.update.Reassignment.value.events.0.JsAssignmentEvent.reassignmentId');
    expect(encoded).toHaveProperty(
      '4.update.TopologyTransaction.value.events.0.event.ParticipantAuthorizationAdded.value.participantPermission',
      'PARTICIPANT_PERMISSION_SUBMISSION',
    );
  });

  it.each(['0', '1', '2', '3'])('permission %s of 3.3 has a name', (number) => {
    const path = '4.update.TopologyTransaction.value.events.0.ParticipantAuthorizationAdded.participantPermission';
    const wire = replaceAt(sample('updates-3.3', 'wire'), path, Number(number));
    expect(decode(Updates, wire)[4]).toHaveProperty(
      'events.0.participantPermission',
      ['UNSPECIFIED', 'SUBMISSION', 'CONFIRMATION', 'OBSERVATION'].map((name) => `PARTICIPANT_PERMISSION_${name}`)[
        Number(number)
      ],
    );
  });

  it.each([-1, 4, 1.5])('permission %p of 3.3 has no name', (number) => {
    const path = '4.update.TopologyTransaction.value.events.0.ParticipantAuthorizationAdded.participantPermission';
    expect(problemsIn(Updates, replaceAt(sample('updates-3.3', 'wire'), path, number))).toStrictEqual([
      `${path}: expected ParticipantPermission`,
    ]);
  });

  it('decodes an empty list', () => {
    expect(decode(Updates, [])).toStrictEqual([]);
  });
});

describe('error bodies', () => {
  const names = ['pruned', 'list-limit', 'redacted', 'in-flight'] as const;

  it.each(names)('%s decodes, and is the result of encoding', (name) => {
    const value = sample('errors', name, 'decoded');
    expect(decode(JsCantonError, sample('errors', name, 'wire'))).toStrictEqual(value);
    expect(JsCantonError.encode(decode(JsCantonError, value))).toStrictEqual(value);
  });

  it.each(names)('%s is not an element, a transaction, a prepared submission or a ledger end', (name) => {
    const body = sample('errors', name, 'wire');
    expect(problemsIn(UpdateElement, body)).toStrictEqual(['update: expected Update']);
    expect(problemsIn(ExecuteResponse, body)).toStrictEqual(['transaction: expected Transaction']);
    expect(problemsIn(PreparedSubmission, body)).toHaveLength(3);
    expect(problemsIn(LedgerEnd, body)).toHaveLength(1);
    expect(problemsIn(Updates, body)).toStrictEqual(['expected ReadonlyArray<{ update: Update }>']);
  });

  it.each(['unknown-path', 'plain-text', 'proxy'])('%s is not an error of the ledger', (name) => {
    expect(problemsIn(JsCantonError, sample('not-errors', name))).not.toStrictEqual([]);
    expect(problemsIn(UpdateElement, sample('not-errors', name))).not.toStrictEqual([]);
  });
});

describe('requests', () => {
  it.each([
    { name: 'updates', codec: anyCodec(UpdatesRequest) },
    { name: 'updates-tail', codec: anyCodec(UpdatesRequest) },
    { name: 'updates-legacy', codec: anyCodec(UpdatesRequest) },
    { name: 'execute', codec: anyCodec(ExecuteRequest) },
    { name: 'execute-minimal', codec: anyCodec(ExecuteRequest) },
    { name: 'prepare', codec: anyCodec(PrepareRequest) },
    { name: 'prepare-minimal', codec: anyCodec(PrepareRequest) },
  ])('$name is sent with every scalar and without nulls', ({ name, codec }) => {
    const value = decode(codec, sample('requests', name, 'pasted'));
    expect(value).toStrictEqual(sample('requests', name, 'sent'));
    expect(codec.encode(value)).toStrictEqual(sample('requests', name, 'sent'));
  });
});
