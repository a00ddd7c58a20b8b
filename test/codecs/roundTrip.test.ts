import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type * as t from 'io-ts';
import {
  ArchivedEvent,
  CreatedEvent,
  TransactionEvent,
  ExercisedEvent,
  InterfaceView,
} from '../../src/codecs/Event.js';
import { AssignedEvent, Reassignment, ReassignmentEvent, UnassignedEvent } from '../../src/codecs/Reassignment.js';
import { ExecuteRequest } from '../../src/codecs/ExecuteRequest.js';
import { ExecuteResponse, Transaction } from '../../src/codecs/Transaction.js';
import { JsCantonError } from '../../src/codecs/JsCantonError.js';
import { LedgerEnd, OffsetCheckpoint, SynchronizerTime, TraceContext } from '../../src/codecs/OffsetCheckpoint.js';
import { PreparedSubmission, PrepareRequest } from '../../src/codecs/SubmissionRequest.js';
import { TopologyEvent, TopologyTransaction } from '../../src/codecs/TopologyTransaction.js';
import { TransactionFormat, UpdateFormat } from '../../src/codecs/UpdateFormat.js';
import { headOfElement, Update, UpdateElement } from '../../src/codecs/Update.js';
import { UpdatesRequest } from '../../src/codecs/UpdatesRequest.js';
import * as arbitrary from '../helpers/arbitraries/index.js';
import { decode, toEntries, jsonRoundTrip, dropNulls } from './support.js';
import { effort } from '../helpers/effort.js';

const params = { numRuns: effort(25, 100) };

/** A row of the table of tests; each has its own type. */
const answer = <A>(codec: t.Type<A, unknown>, values: fc.Arbitrary<A>) => ({
  name: codec.name,
  decodesWhatItEncodes: () => {
    fc.assert(
      fc.property(values, (value) => {
        expect(toEntries(decode(codec, jsonRoundTrip(codec.encode(value))))).toStrictEqual(toEntries(value));
      }),
      params,
    );
  },
  acceptsItsValues: () => {
    fc.assert(
      fc.property(values, (value) => codec.is(value)),
      params,
    );
  },
});

const damlOfRequests = ['createArguments', 'choiceArgument', 'contractKey'];

const request = <A>(codec: t.Type<A, unknown>, values: fc.Arbitrary<A>) => ({
  name: codec.name,
  isIdempotent: () => {
    fc.assert(
      fc.property(values, (value) => {
        const once = decode(codec, value);
        expect(toEntries(decode(codec, once))).toStrictEqual(toEntries(once));
      }),
      params,
    );
  },
  sendsWhatItDecodes: () => {
    fc.assert(
      fc.property(values, (value) => {
        const once = decode(codec, value);
        expect(toEntries(codec.encode(once))).toStrictEqual(toEntries(once));
        expect(toEntries(codec.encode(value))).toStrictEqual(toEntries(once));
        expect(toEntries(dropNulls(codec.encode(once), damlOfRequests))).toStrictEqual(toEntries(once));
      }),
      params,
    );
  },
  acceptsItsValues: () => {
    fc.assert(
      fc.property(values, (value) => codec.is(value) && codec.is(decode(codec, value))),
      params,
    );
  },
});

describe('answers', () => {
  const rows = [
    answer(ArchivedEvent, arbitrary.archivedEventArbitrary),
    answer(AssignedEvent, arbitrary.assignmentEventArbitrary),
    answer(CreatedEvent, arbitrary.createdEventArbitrary),
    answer(TransactionEvent, arbitrary.eventArbitrary),
    answer(ExecuteResponse, arbitrary.transactionArbitrary),
    answer(ExercisedEvent, arbitrary.exercisedEventArbitrary),
    answer(InterfaceView, arbitrary.interfaceViewArbitrary),
    answer(JsCantonError, arbitrary.jsCantonErrorArbitrary),
    answer(LedgerEnd, arbitrary.ledgerEndArbitrary),
    answer(OffsetCheckpoint, arbitrary.offsetCheckpointArbitrary),
    answer(PreparedSubmission, arbitrary.preparedSubmissionArbitrary),
    answer(Reassignment, arbitrary.reassignmentArbitrary),
    answer(ReassignmentEvent, arbitrary.reassignmentEventArbitrary),
    answer(SynchronizerTime, arbitrary.synchronizerTimeArbitrary),
    answer(TopologyEvent, arbitrary.topologyEventArbitrary),
    answer(TopologyTransaction, arbitrary.topologyTransactionArbitrary),
    answer(TraceContext, arbitrary.traceContextArbitrary),
    answer(Transaction, arbitrary.transactionArbitrary),
    answer(UnassignedEvent, arbitrary.unassignedEventArbitrary),
    answer(Update, arbitrary.updateArbitrary),
    answer(UpdateElement, arbitrary.updateArbitrary),
  ];

  it.each(rows)('$name decodes an encoded value to the same value', ({ decodesWhatItEncodes }) => {
    decodesWhatItEncodes();
  });

  it.each(rows)('$name accepts its values', ({ acceptsItsValues }) => {
    acceptsItsValues();
  });

  it('headOfElement reads the offset of every element', () => {
    fc.assert(
      fc.property(arbitrary.updateArbitrary, (update) => {
        expect(headOfElement(UpdateElement.encode(update))).toMatchObject({ offset: update.offset });
      }),
      params,
    );
  });
});

describe('requests', () => {
  const rows = [
    request(ExecuteRequest, arbitrary.executeRequestArbitrary),
    request(PrepareRequest, arbitrary.prepareRequestArbitrary),
    request(TransactionFormat, arbitrary.transactionFormatArbitrary),
    request(UpdateFormat, arbitrary.updateFormatArbitrary),
    request(UpdatesRequest, arbitrary.updatesRequestArbitrary),
  ];

  it.each(rows)('$name decodes a decoded value to the same value', ({ isIdempotent }) => {
    isIdempotent();
  });

  it.each(rows)('$name encodes a decoded value to the same value, without nulls', ({ sendsWhatItDecodes }) => {
    sendsWhatItDecodes();
  });

  it.each(rows)('$name accepts its values, before and after decoding', ({ acceptsItsValues }) => {
    acceptsItsValues();
  });
});
