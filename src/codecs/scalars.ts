import type * as t from 'io-ts';
import { integer, matching, scalar } from './internal/field.js';

/**
 * A position on the ledger of one participant: an integer, where 0 is the beginning of the ledger. Offsets ascend, with
 * gaps. The offsets of two participants are unrelated. An offset is an int64 on the wire; a number beyond 2^53 - 1 is
 * invalid, because `JSON.parse` rounds it.
 *
 * @example
 * ```ts
 * import { Offset } from 'canton-rx';
 *
 * Offset.is(42); // true
 * Offset.is(2 ** 53); // false
 * ```
 * @category Values
 */
export type Offset = number;

/**
 * Codec of `Offset`.
 *
 * @category Values
 */
export const Offset: t.Type<Offset> = /* @__PURE__ */ integer(
  'Offset',
  0,
  Infinity,
  'a whole number from 0 to 2^53 - 1',
);

/**
 * An integer between -(2^53 - 1) and 2^53 - 1, an int32 or int64 on the wire.
 *
 * @inline
 */
export type Int64 = number;

/** Codec of `Int64`. A number that `JSON.parse` may have rounded is invalid. */
export const Int64: t.Type<Int64> = /* @__PURE__ */ integer(
  'Int64',
  -Infinity,
  Infinity,
  'a whole number within 2^53 - 1',
);

/**
 * A time in UTC as ISO 8601 text, such as `2026-07-24T10:00:00.123456Z`, with as many fraction digits as it needs. It
 * stays text because the ledger's precision is microseconds, which `Date` lacks.
 *
 * @category Values
 */
export type Timestamp = string;

/**
 * Codec of `Timestamp`.
 *
 * @category Values
 */
export const Timestamp: t.Type<Timestamp, Timestamp> = /* @__PURE__ */ matching(
  'Timestamp',
  /^[+-]?\d{4,9}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?Z$/,
  64,
  'ISO 8601 in UTC',
);

/**
 * A party id: 1 to 255 of the characters `A-Z a-z 0-9 : - _` and space. On Canton, it has the form `hint::fingerprint`.
 *
 * @category Values
 */
export type Party = string;

/**
 * Codec of `Party`.
 *
 * @category Values
 */
export const Party: t.Type<Party, Party> = /* @__PURE__ */ matching(
  'Party',
  /^[A-Za-z0-9:\-_ ]+$/,
  255,
  '1 to 255 of A-Z a-z 0-9 : - _ and space',
);

/**
 * An identifier chosen by a client, such as a submission id: 1 to 255 of the characters `A-Z a-z 0-9 # : . - _ /` and
 * space. The ledger's documentation omits the dot; participants accept it.
 *
 * @inline
 */
export type LedgerString = string;

/** Codec of `LedgerString`. */
export const LedgerString: t.Type<LedgerString, LedgerString> = /* @__PURE__ */ matching(
  'LedgerString',
  /^[A-Za-z0-9#:.\-_/ ]+$/,
  255,
  '1 to 255 of A-Z a-z 0-9 # : . - _ / and space',
);

/**
 * A template or an interface in a request: `#package-name:Module.Path:Entity` or `package-id:Module.Path:Entity`.
 * Ledgers since 3.5.1 reject the second form in the filter of a stream.
 *
 * @category Values
 */
export type TemplateId = string;

// a package, then the path of a module, then the path of an entity
const templateId =
  /^(#[A-Za-z0-9\-_]{1,255}|[A-Za-z0-9\-_ ]{1,64})(:[A-Za-z$_][A-Za-z0-9$_]*(\.[A-Za-z$_][A-Za-z0-9$_]*)*){2}$/;

/**
 * Codec of `TemplateId`.
 *
 * @category Values
 */
export const TemplateId: t.Type<TemplateId> = /* @__PURE__ */ matching(
  'TemplateId',
  templateId,
  2_300,
  '#package-name:Module:Entity or package-id:Module:Entity',
);

/** A package name with `#`, or the 64 digits of a package id. */
const selectedPackage = /^(#|[0-9a-f]{64}:)/i;

/** Codec of the `TemplateId` of a filter. A package name without `#` would select nothing. */
export const SelectedId: t.Type<TemplateId> = /* @__PURE__ */ scalar(
  'TemplateId',
  (u): u is TemplateId => TemplateId.is(u) && selectedPackage.test(u),
  'TemplateId, #package-name:Module:Entity or package-id:Module:Entity, with an id of 64 hex digits',
);

/**
 * Throws a TypeError for a text that is neither `#package-name:Module:Entity` nor `package-id:Module:Entity` with the 64
 * digits of a package id. A package name without `#` is the usual mistake: the ledger would look for a package id.
 */
export function checkTemplateId(id: TemplateId): void {
  // not by the codec, so that a program that only builds a format does not load io-ts
  if (templateId.test(id) && selectedPackage.test(id)) return;
  const isName = templateId.test(`#${id}`);
  throw new TypeError(`'${id}' is not a template id: ${isName ? `did you mean '#${id}'?` : templateIdForms}`);
}

const templateIdForms = 'use #package-name:Module:Entity or package-id:Module:Entity';

/**
 * A template id that is known to the compiler: itself, or the question that the compiler then reports if a package name
 * lacks its `#`. Any `string` passes.
 *
 * @inline
 */
export type CheckedTemplateId<I extends string> = I extends `#${string}`
  ? I
  : I extends `${infer P}:${string}:${string}`
    ? string extends P
      ? I
      : LengthOf<P> extends 64
        ? I
        : `did you mean '#${I}'?`
    : I;

type LengthOf<S extends string, N extends readonly 0[] = []> = S extends `${string}${infer Rest}`
  ? LengthOf<Rest, [...N, 0]>
  : N['length'];

/**
 * A user id on the participant, at most 128 characters; empty for the user of the token.
 *
 * @inline
 */
export type UserId = string;

/** Codec of `UserId`. */
export const UserId: t.Type<UserId, UserId> = /* @__PURE__ */ matching(
  'UserId',
  /^[a-zA-Z0-9@^$.!`\-#+'~_|:()]*$/,
  128,
  'at most 128 characters without a space',
);

/**
 * Bytes as standard, padded base64.
 *
 * @inline
 */
export type Base64 = string;

// the pattern has no repeated group, which would overflow the engine's stack on a few megabytes
const isBase64 = (u: unknown): u is Base64 =>
  typeof u === 'string' && u.length > 0 && u.length % 4 === 0 && !/[^A-Za-z0-9+/]/.test(u.replace(/={1,2}$/, ''));

/** Codec of `Base64`. The empty string is invalid, because no field of this type may be empty. */
export const Base64: t.Type<Base64> = /* @__PURE__ */ scalar('Base64', isBase64, 'padded Base64');

/**
 * A field that a request may omit, or set to `null` as the ledger's own examples do.
 *
 * @inline
 */
export type Opt<A> = A | null | undefined;

/**
 * The hashing scheme of a prepared transaction: `HASHING_SCHEME_VERSION_V2`, `HASHING_SCHEME_VERSION_V3` (since 3.5),
 * or a newer version from the response of `prepare`, which is passed on unchanged.
 *
 * @category Values
 */
export type HashingSchemeVersion = 'HASHING_SCHEME_VERSION_UNSPECIFIED' | `HASHING_SCHEME_VERSION_V${number}`;

/**
 * Codec of `HashingSchemeVersion`.
 *
 * @category Values
 */
export const HashingSchemeVersion: t.Type<HashingSchemeVersion> = /* @__PURE__ */ scalar(
  'HashingSchemeVersion',
  (u): u is HashingSchemeVersion =>
    typeof u === 'string' && /^HASHING_SCHEME_VERSION_(UNSPECIFIED|V[1-9]\d{0,3})$/.test(u),
  'HASHING_SCHEME_VERSION_V2, _V3 or newer',
);
