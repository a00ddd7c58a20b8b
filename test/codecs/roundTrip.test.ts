import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type * as t from 'io-ts';
import * as contract from '../../src/codecs/ContractEntry.js';
import * as event from '../../src/codecs/Event.js';
import { ExecuteRequest } from '../../src/codecs/ExecuteRequest.js';
import { JsCantonError } from '../../src/codecs/JsCantonError.js';
import * as checkpoint from '../../src/codecs/OffsetCheckpoint.js';
import * as reassignment from '../../src/codecs/Reassignment.js';
import {
  CommandsRequest,
  DisclosedContract,
  PreparedSubmission,
  PrepareRequest,
} from '../../src/codecs/SubmissionRequest.js';
import { TopologyEvent, TopologyTransaction } from '../../src/codecs/TopologyTransaction.js';
import { ExecuteResponse, Transaction } from '../../src/codecs/Transaction.js';
import { headOfElement, Update, UpdateElement } from '../../src/codecs/Update.js';
import { TransactionFormat, UpdateFormat } from '../../src/codecs/UpdateFormat.js';
import { UpdatesRequest } from '../../src/codecs/UpdatesRequest.js';
import * as arbitrary from '../helpers/arbitraries/index.js';
import { effort } from '../helpers/effort.js';
import { anyCodec, decode, dropNulls, jsonRoundTrip, toEntries } from './support.js';

/** A codec with its values; each row has another type. */
const row = <A>(codec: t.Type<A, unknown>, values: fc.Arbitrary<A>) => ({
  name: codec.name,
  codec: anyCodec(codec),
  values: values as fc.Arbitrary<unknown>,
});

/** Checks a law for many values. */
const forAll = <A>(values: fc.Arbitrary<A>, law: (value: A) => void): void => {
  fc.assert(fc.property(values, law), { numRuns: effort(25, 100) });
};

describe('answers', () => {
  it.each([
    row(event.ArchivedEvent, arbitrary.archivedEventArbitrary),
    row(event.CreatedEvent, arbitrary.createdEventArbitrary),
    row(event.ExercisedEvent, arbitrary.exercisedEventArbitrary),
    row(event.InterfaceView, arbitrary.interfaceViewArbitrary),
    row(event.TransactionEvent, arbitrary.eventArbitrary),
    row(reassignment.AssignedEvent, arbitrary.assignmentEventArbitrary),
    row(reassignment.Reassignment, arbitrary.reassignmentArbitrary),
    row(reassignment.ReassignmentEvent, arbitrary.reassignmentEventArbitrary),
    row(reassignment.UnassignedEvent, arbitrary.unassignedEventArbitrary),
    row(contract.ActiveContractsPage, arbitrary.activeContractsPageArbitrary),
    row(contract.ContractElement, arbitrary.contractElementArbitrary),
    row(contract.ContractEntry, arbitrary.contractEntryArbitrary),
    row(checkpoint.LedgerEnd, arbitrary.ledgerEndArbitrary),
    row(checkpoint.OffsetCheckpoint, arbitrary.offsetCheckpointArbitrary),
    row(checkpoint.SynchronizerTime, arbitrary.synchronizerTimeArbitrary),
    row(checkpoint.TraceContext, arbitrary.traceContextArbitrary),
    row(ExecuteResponse, arbitrary.transactionArbitrary),
    row(JsCantonError, arbitrary.jsCantonErrorArbitrary),
    row(PreparedSubmission, arbitrary.preparedSubmissionArbitrary),
    row(TopologyEvent, arbitrary.topologyEventArbitrary),
    row(TopologyTransaction, arbitrary.topologyTransactionArbitrary),
    row(Transaction, arbitrary.transactionArbitrary),
    row(Update, arbitrary.updateArbitrary),
    row(UpdateElement, arbitrary.updateArbitrary),
  ])('$name accepts its values, and decodes an encoded value to the same value', ({ codec, values }) => {
    forAll(values, (value) => {
      expect(codec.is(value)).toBe(true);
      expect(toEntries(decode(codec, jsonRoundTrip(codec.encode(value))))).toStrictEqual(toEntries(value));
    });
  });

  it('headOfElement reads the offset of every element', () => {
    forAll(arbitrary.updateArbitrary, (update) => {
      expect(headOfElement(UpdateElement.encode(update))).toMatchObject({ offset: update.offset });
    });
  });
});

describe('requests', () => {
  const damlFields = ['createArguments', 'choiceArgument', 'contractKey'];

  it.each([
    row(CommandsRequest, arbitrary.commandsRequestArbitrary),
    row(DisclosedContract, arbitrary.disclosedContractArbitrary),
    row(ExecuteRequest, arbitrary.executeRequestArbitrary),
    row(PrepareRequest, arbitrary.prepareRequestArbitrary),
    row(TransactionFormat, arbitrary.transactionFormatArbitrary),
    row(UpdateFormat, arbitrary.updateFormatArbitrary),
    row(UpdatesRequest, arbitrary.updatesRequestArbitrary),
  ])('$name accepts its values, decodes them once for all, and sends them without nulls', ({ codec, values }) => {
    forAll(values, (value) => {
      const once = decode(codec, value);
      expect([codec.is(value), codec.is(once)]).toEqual([true, true]);
      for (const same of [decode(codec, once), codec.encode(once), codec.encode(value)])
        expect(toEntries(same)).toStrictEqual(toEntries(once));
      expect(toEntries(dropNulls(codec.encode(once), damlFields))).toStrictEqual(toEntries(once));
    });
  });
});
