import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type * as t from 'io-ts';
import { ArchivedEvent, CreatedEvent, Event, ExercisedEvent, InterfaceView } from '../../src/codecs/Event.js';
import { AssignedEvent, Reassignment, ReassignmentEvent, UnassignedEvent } from '../../src/codecs/Reassignment.js';
import { ExecuteRequest } from '../../src/codecs/ExecuteRequest.js';
import { ExecuteResponse, Transaction } from '../../src/codecs/Transaction.js';
import { JsCantonError } from '../../src/codecs/JsCantonError.js';
import { LedgerEnd, OffsetCheckpoint, SynchronizerTime, TraceContext } from '../../src/codecs/OffsetCheckpoint.js';
import { PreparedSubmission } from '../../src/codecs/PreparedSubmission.js';
import { PrepareRequest } from '../../src/codecs/PrepareRequest.js';
import { TopologyEvent, TopologyTransaction } from '../../src/codecs/TopologyTransaction.js';
import { TransactionFormat, UpdateFormat } from '../../src/codecs/UpdateFormat.js';
import { offsetOfElement, Update, UpdateElement } from '../../src/codecs/Update.js';
import { UpdatesRequest } from '../../src/codecs/UpdatesRequest.js';
import * as arbitrary from '../helpers/arbitraries/index.js';
import { decoded, entries, overTheWire, withoutNulls } from './support.js';

/** One test per row: the rows have types of their own. */
const answer = <A>(codec: t.Type<A, unknown>, values: fc.Arbitrary<A>) => ({
  name: codec.name,
  keepsEveryValue: () => {
    fc.assert(
      fc.property(values, (value) => {
        expect(entries(decoded(codec, overTheWire(codec.encode(value))))).toStrictEqual(entries(value));
      }),
    );
  },
  knowsItsValues: () => {
    fc.assert(fc.property(values, (value) => codec.is(value)));
  },
});

const damlOfRequests = ['createArguments', 'choiceArgument', 'contractKey'];

const request = <A>(codec: t.Type<A, unknown>, values: fc.Arbitrary<A>) => ({
  name: codec.name,
  isIdempotent: () => {
    fc.assert(
      fc.property(values, (value) => {
        const once = decoded(codec, value);
        expect(entries(decoded(codec, once))).toStrictEqual(entries(once));
      }),
    );
  },
  sendsWhatItDecodes: () => {
    fc.assert(
      fc.property(values, (value) => {
        const once = decoded(codec, value);
        expect(entries(codec.encode(once))).toStrictEqual(entries(once));
        expect(entries(codec.encode(value))).toStrictEqual(entries(once));
        expect(entries(withoutNulls(codec.encode(once), damlOfRequests))).toStrictEqual(entries(once));
      }),
    );
  },
  knowsItsValues: () => {
    fc.assert(fc.property(values, (value) => codec.is(value) && codec.is(decoded(codec, value))));
  },
});

describe('answers', () => {
  const rows = [
    answer(ArchivedEvent, arbitrary.archivedEventArbitrary),
    answer(AssignedEvent, arbitrary.assignmentEventArbitrary),
    answer(CreatedEvent, arbitrary.createdEventArbitrary),
    answer(Event, arbitrary.eventArbitrary),
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

  it.each(rows)('$name decodes what it encodes to the same value', ({ keepsEveryValue }) => {
    keepsEveryValue();
  });

  it.each(rows)('$name knows its values', ({ knowsItsValues }) => {
    knowsItsValues();
  });

  it('offsetOfElement reads the offset of every element', () => {
    fc.assert(
      fc.property(arbitrary.updateArbitrary, (update) => {
        expect(offsetOfElement(UpdateElement.encode(update))).toBe(update.offset);
      }),
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

  it.each(rows)('$name decodes what it decoded to the same value', ({ isIdempotent }) => {
    isIdempotent();
  });

  it.each(rows)('$name sends what it decodes, without nulls', ({ sendsWhatItDecodes }) => {
    sendsWhatItDecodes();
  });

  it.each(rows)('$name knows its values, as written and as decoded', ({ knowsItsValues }) => {
    knowsItsValues();
  });
});
