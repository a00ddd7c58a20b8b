import type * as t from 'io-ts';
import { TransactionFilter } from './Filters.js';
import { Codec, invalid, readerOf, atKey, fail } from './internal/Codec.js';
import { flag, nullable, withDefault } from './internal/field.js';
import { exact } from './internal/message.js';
import { Offset, type Opt } from './scalars.js';
import { type EventFormat, UpdateFormat } from './UpdateFormat.js';

/**
 * A range of offsets. An ascending range without `endInclusive` has no end. A descending range requires `endInclusive`.
 * The usual form is the last member, here and below: the compiler reports what a request lacks by the last one.
 *
 * @inline
 */
export type UpdatesRange =
  | {
      /** The offset after which the range starts; 0 is the beginning of the ledger. Not before the pruned offset. */
      readonly beginExclusive: Offset;
      /** The last offset of the range. */
      readonly endInclusive: Offset;
      /** Whether to read backward, from the last update to the first. Default: false. Since 3.5. */
      readonly descendingOrder?: Opt<boolean>;
    }
  | {
      /** The offset after which the range starts; 0 is the beginning of the ledger. Not before the pruned offset. */
      readonly beginExclusive: Offset;
      /** The last offset of the range; absent for a range without an end. */
      readonly endInclusive?: Opt<Offset>;
      /** Whether to read backward, from the last update to the first. Default: false. */
      readonly descendingOrder?: Opt<false>;
    };

/**
 * The updates that a request selects: either by an update format, or by its predecessor, the filter. One of the two is
 * required.
 *
 * @inline
 */
export type UpdatesSelection =
  | {
      /** Not allowed together with `filter` or `verbose`. */
      readonly updateFormat?: null | undefined;
      /** The parties and contracts to select, in the format that is deprecated since 3.4. */
      readonly filter: TransactionFilter;
      /** Whether gRPC values include labels and type ids; has no effect on JSON. Default: false. */
      readonly verbose?: Opt<boolean>;
    }
  | {
      /** The updates to select. */
      readonly updateFormat: UpdateFormat;
      /** Not allowed together with `updateFormat`. */
      readonly filter?: null | undefined;
      /** Not allowed together with `updateFormat`. */
      readonly verbose?: null | undefined;
    };

/**
 * The body of a request for updates, in wire format.
 *
 * @example
 * ```ts
 * import { acsDelta, type UpdatesRequest } from 'canton-rx';
 *
 * const request: UpdatesRequest = { beginExclusive: 0, updateFormat: acsDelta({ parties: ['alice::1220ab'] }) };
 * ```
 * @category Requests
 */
export type UpdatesRequest = UpdatesRange & UpdatesSelection;

interface Fields {
  readonly beginExclusive: Offset;
  readonly endInclusive?: Opt<Offset>;
  readonly descendingOrder?: Opt<boolean>;
  readonly updateFormat?: Opt<UpdateFormat>;
  readonly filter?: Opt<TransactionFilter>;
  readonly verbose?: Opt<boolean>;
}

const Fields = exact<Fields>('UpdatesRequest', {
  beginExclusive: Offset,
  endInclusive: nullable(Offset),
  descendingOrder: withDefault(flag, false),
  updateFormat: nullable(UpdateFormat),
  filter: nullable(TransactionFilter),
  verbose: nullable(flag),
});

/** The fields of a request that break a rule, and what is expected of them. */
function* brokenRules(request: Fields): Generator<readonly [field: string, expected: string]> {
  const { beginExclusive, endInclusive, descendingOrder, updateFormat, filter, verbose } = request;
  if (updateFormat != null && (filter != null || verbose != null))
    yield ['updateFormat', 'absent with filter or verbose'];
  if (descendingOrder === true && endInclusive == null) yield ['descendingOrder', 'false without endInclusive'];
  if (endInclusive != null && endInclusive < beginExclusive) yield ['endInclusive', 'at or after beginExclusive'];
}

const obeysRules = (request: Fields): request is UpdatesRequest => brokenRules(request).next().done === true;

// 3.3 requires it with a filter
const withVerbose = (request: Fields): Fields =>
  request.filter == null ? request : { ...request, verbose: request.verbose ?? false };

const readFields = readerOf(Fields);

/**
 * Codec of `UpdatesRequest`. It checks the rules of the request, drops each `null`, and adds the scalars that 3.3
 * requires.
 *
 * @category Requests
 */
export const UpdatesRequest: t.Type<UpdatesRequest, unknown> = new Codec<UpdatesRequest>(
  Fields.name,
  (u): u is UpdatesRequest => Fields.is(u) && obeysRules(u),
  (u, sink) => {
    const decoded = readFields(u, sink);
    if (decoded === invalid) return invalid;
    const request = withVerbose(decoded);
    if (obeysRules(request)) return request;
    for (const [field, expected] of brokenRules(request)) fail(u, atKey(sink, field, Fields, undefined), expected);
    return invalid;
  },
  (request) => Fields.encode(withVerbose(request)),
);

/**
 * The body of a request for a range. For `/v2/updates`, it always contains an update format: the legacy `filter` and
 * `verbose` are deprecated since 3.4, get responses of the wrong shape before 3.4.12, and are off by default in 3.6.
 */
export function updatesBody(
  request: UpdatesRequest,
  range: { readonly beginExclusive: Offset; readonly endInclusive?: Offset; readonly descendingOrder?: boolean },
  path: string,
): { readonly updateFormat?: UpdateFormat | null | undefined } {
  const { updateFormat, filter, verbose } = request;
  return {
    descendingOrder: false,
    ...range,
    ...(path === '/v2/updates/flats'
      ? { updateFormat, filter, verbose }
      : { updateFormat: updateFormat ?? formatOfFilter(filter, verbose) }),
  };
}

/** The update format that equals a legacy filter, by the rule in the API specification. */
function formatOfFilter(
  filter: TransactionFilter | null | undefined,
  verbose: boolean | null | undefined,
): UpdateFormat | undefined {
  if (!filter) return undefined;
  const eventFormat: EventFormat = { ...filter, verbose: verbose ?? false };
  const parties = Object.keys(filter.filtersByParty ?? {});
  return {
    includeTransactions: { eventFormat, transactionShape: 'TRANSACTION_SHAPE_ACS_DELTA' },
    includeReassignments: eventFormat,
    includeTopologyEvents: {
      includeParticipantAuthorizationEvents: { parties: filter.filtersForAnyParty ? [] : parties },
    },
  };
}
