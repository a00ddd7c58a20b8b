import { describe, expect, it } from '@jest/globals';
import { expectTypeOf } from 'expect-type';
import type { TransactionFilter } from '../../../src/codecs/Filters.js';
import type { UpdateFormat } from '../../../src/codecs/UpdateFormat.js';
import { UpdatesRequest } from '../../../src/codecs/UpdatesRequest.js';

/** Types, which `npm run typecheck` proves: Jest does not check them. */

const updateFormat: UpdateFormat = { includeReassignments: { filtersForAnyParty: {} } };
const filter: TransactionFilter = { filtersForAnyParty: {} };

/** A request that does not compile does not decode, either. */
const refused = (request: UpdatesRequest): void => {
  expect(UpdatesRequest.is(request)).toBe(false);
};
const accepted = (request: UpdatesRequest): void => {
  expect(UpdatesRequest.is(request)).toBe(true);
};

describe('UpdatesRequest', () => {
  it('excludes updateFormat beside filter', () => {
    // @ts-expect-error -- both select updates
    refused({ beginExclusive: 0, updateFormat, filter });
  });

  it('excludes updateFormat beside verbose', () => {
    // @ts-expect-error -- verbose belongs to filter
    refused({ beginExclusive: 0, updateFormat, verbose: true });
    // @ts-expect-error -- even if undefined
    refused({ beginExclusive: 0, updateFormat, verbose: false });
  });

  it('excludes descending order without an end', () => {
    // @ts-expect-error -- it lacks its start
    refused({ beginExclusive: 0, updateFormat, descendingOrder: true });
    // @ts-expect-error -- null is no end
    refused({ beginExclusive: 0, updateFormat, descendingOrder: true, endInclusive: null });
  });

  it('excludes a misspelt field', () => {
    // @ts-expect-error -- it would be ignored
    refused({ beginExclusive: 0, updateFormats: updateFormat });
  });

  it('requires beginExclusive', () => {
    // @ts-expect-error -- 3.3 and 3.5 do
    refused({ updateFormat });
    // @ts-expect-error -- a number
    refused({ beginExclusive: null, updateFormat });
  });

  it('accepts a format, or a filter with or without verbose', () => {
    accepted({ beginExclusive: 0, updateFormat });
    accepted({ beginExclusive: 0, filter });
    accepted({ beginExclusive: 0, filter, verbose: true });
  });

  it('accepts either order with an end', () => {
    accepted({ beginExclusive: 0, endInclusive: 5, updateFormat, descendingOrder: true });
    accepted({ beginExclusive: 0, endInclusive: 5, filter, descendingOrder: false });
    accepted({ beginExclusive: 0, updateFormat, descendingOrder: false });
  });

  it('accepts null for absent fields, as the wire has it', () => {
    accepted({
      beginExclusive: 0,
      endInclusive: null,
      updateFormat,
      filter: null,
      verbose: null,
      descendingOrder: null,
    });
    accepted({ beginExclusive: 0, endInclusive: null, filter, verbose: null, updateFormat: null });
    accepted({
      beginExclusive: 0,
      updateFormat: {
        includeTransactions: {
          eventFormat: { filtersByParty: { alice: { cumulative: null } }, filtersForAnyParty: null, verbose: null },
          transactionShape: 'TRANSACTION_SHAPE_ACS_DELTA',
        },
        includeReassignments: null,
        includeTopologyEvents: { includeParticipantAuthorizationEvents: null },
      },
    });
  });

  it('is the type of its codec', () => {
    expectTypeOf(UpdatesRequest._A).toEqualTypeOf<UpdatesRequest>();
  });
});
