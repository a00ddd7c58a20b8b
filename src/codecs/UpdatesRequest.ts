import type * as t from 'io-ts';
import { TransactionFilter } from './Filters.js';
import { Codec, invalid, readBy, under, wrong } from './internal/Codec.js';
import { flag, nullable, withDefault } from './internal/field.js';
import { exact } from './internal/message.js';
import { Offset, type Opt } from './scalars.js';
import { UpdateFormat } from './UpdateFormat.js';

/** What a request may not say although each of its fields may. */
interface Rule<F> {
  readonly field: string;
  readonly broken: (fields: F) => boolean;
  readonly expected: string;
}

/** A request whose fields obey the rules between them as well, and are completed by each other. `A` is what the rules leave of `F`. */
function withRules<F, A extends F>(
  fields: t.Type<F, unknown>,
  rules: readonly Rule<F>[],
  completed: (fields: F) => F,
): t.Type<A, unknown> {
  const brokenBy = (f: F): readonly Rule<F>[] => rules.filter((rule) => rule.broken(f));
  const obeys = (f: F): f is A => brokenBy(f).length === 0;
  const read = readBy(fields);
  return new Codec<A>(
    fields.name,
    (u): u is A => fields.is(u) && obeys(u),
    (u, why) => {
      const decoded = read(u, why);
      if (decoded === invalid) return invalid;
      const request = completed(decoded);
      if (obeys(request)) return request;
      for (const { field, expected } of brokenBy(request)) wrong(u, under(why, field, fields, undefined), expected);
      return invalid;
    },
    (a) => fields.encode(completed(a)),
  );
}

/** Ascending, without an end unless one is given; or descending, which must begin somewhere. */
export type UpdatesRange =
  | {
      /** Updates after this offset alone; 0 is the ledger's begin. At or after the offset up to which the ledger is pruned. */
      readonly beginExclusive: Offset;
      /** Updates up to this offset alone; absent for a feed that does not end. */
      readonly endInclusive?: Opt<Offset>;
      /** Whether the last update comes first. Default: false. */
      readonly descendingOrder?: Opt<false>;
    }
  | {
      /** Updates after this offset alone; 0 is the ledger's begin. At or after the offset up to which the ledger is pruned. */
      readonly beginExclusive: Offset;
      /** Updates up to this offset alone. */
      readonly endInclusive: Offset;
      /** Whether the last update comes first. Default: false. Since 3.5. */
      readonly descendingOrder?: Opt<boolean>;
    };

/** What is asked for: by an update format, or by the filter that came before it. */
export type UpdatesSelection =
  | {
      /** Which updates. */
      readonly updateFormat?: Opt<UpdateFormat>;
      /** Not beside `updateFormat`. */
      readonly filter?: null | undefined;
      /** Not beside `updateFormat`. */
      readonly verbose?: null | undefined;
    }
  | {
      /** Not beside `filter` or `verbose`. */
      readonly updateFormat?: null | undefined;
      /** Whose updates of which contracts, in the form that is deprecated since 3.4. */
      readonly filter?: Opt<TransactionFilter>;
      /** Whether gRPC values carry labels and type ids; JSON does not change by it. Default: false. */
      readonly verbose?: Opt<boolean>;
    };

/**
 * The body of a request for updates, in the wire's own words.
 *
 * @example
 * ```ts
 * import { acsDelta, type UpdatesRequest } from 'canton-rx';
 *
 * const request: UpdatesRequest = { beginExclusive: 0, updateFormat: acsDelta({ parties: ['alice::1220ab'] }) };
 * ```
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

// 3.3 wants it beside a filter
const withVerbose = (fields: Fields): Fields =>
  has(fields.filter) ? { ...fields, verbose: fields.verbose ?? false } : fields;

const rules = [
  {
    field: 'updateFormat',
    broken: ({ updateFormat, filter, verbose }: Fields) => has(updateFormat) && (has(filter) || has(verbose)),
    expected: 'absent beside filter or verbose',
  },
  {
    field: 'descendingOrder',
    broken: ({ descendingOrder, endInclusive }: Fields) => descendingOrder === true && !has(endInclusive),
    expected: 'false without endInclusive',
  },
  {
    field: 'endInclusive',
    broken: ({ beginExclusive, endInclusive }: Fields) => has(endInclusive) && endInclusive < beginExclusive,
    expected: 'at or after beginExclusive',
  },
];

const has = <A>(value: Opt<A>): value is A => value !== null && value !== undefined;

/** Codec of `UpdatesRequest`: checks the rules of the request, drops what is `null`, fills in what 3.3 wants. */
export const UpdatesRequest: t.Type<UpdatesRequest, unknown> = withRules<Fields, UpdatesRequest>(
  Fields,
  rules,
  withVerbose,
);
