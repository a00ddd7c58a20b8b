import fc from 'fast-check';
import type {
  HashingSchemeVersion,
  Int64,
  LedgerString,
  Offset,
  Party,
  TemplateId,
  Timestamp,
  UserId,
} from '../../../src/codecs/scalars.js';

const hex = (length: number): fc.Arbitrary<string> =>
  fc.uint8Array({ minLength: length / 2, maxLength: length / 2 }).map((bytes) => Buffer.from(bytes).toString('hex'));

const pad = (value: number, digits: number): string => String(value).padStart(digits, '0');

export const offsetArbitrary: fc.Arbitrary<Offset> = fc.oneof(fc.nat({ max: 1000 }), fc.maxSafeNat());

export const int64Arbitrary: fc.Arbitrary<Int64> = fc.oneof(fc.nat({ max: 1000 }), fc.maxSafeInteger());

export const nodeIdArbitrary: fc.Arbitrary<Int64> = fc.nat({ max: 2 ** 31 - 1 });

/** As `Instant.toString` writes it: 0, 3, 6 or 9 digits of a second's fraction. */
export const timestampArbitrary: fc.Arbitrary<Timestamp> = fc
  .tuple(
    fc.tuple(fc.integer({ min: 1970, max: 9999 }), fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 28 })),
    fc.tuple(fc.nat({ max: 23 }), fc.nat({ max: 59 }), fc.nat({ max: 59 })),
    fc.constantFrom(0, 3, 6, 9),
    fc.nat({ max: 999_999_999 }),
  )
  .map(([[year, month, day], [hours, minutes, seconds], digits, nanos]) => {
    const fraction = digits === 0 ? '' : `.${pad(nanos, 9).slice(0, digits)}`;
    return `${pad(year, 4)}-${pad(month, 2)}-${pad(day, 2)}T${pad(hours, 2)}:${pad(minutes, 2)}:${pad(seconds, 2)}${fraction}Z`;
  });

export const fingerprintArbitrary: fc.Arbitrary<string> = hex(64).map((digits) => `1220${digits}`);

/** `hint::fingerprint` as on Canton, or whatever else the lexical rule admits. */
export const partyArbitrary: fc.Arbitrary<Party> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.tuple(fc.constantFrom('alice', 'bob', 'Bank_1'), hex(64)).map((parts) => parts.join('::1220')),
  },
  { weight: 1, arbitrary: fc.stringMatching(/^[A-Za-z0-9:\-_ ]{1,20}$/) },
  { weight: 1, arbitrary: fc.constantFrom('__proto__', 'constructor') },
);

export const partiesArbitrary: fc.Arbitrary<readonly Party[]> = fc.array(partyArbitrary, { maxLength: 2 });

export const synchronizerIdArbitrary: fc.Arbitrary<string> = fc
  .tuple(fc.constantFrom('global', 'private'), hex(64))
  .map((parts) => parts.join('::1220'));

export const updateIdArbitrary: fc.Arbitrary<string> = fingerprintArbitrary;

export const contractIdArbitrary: fc.Arbitrary<string> = hex(136).map((digits) => `00${digits}`);

export const packageNameArbitrary: fc.Arbitrary<string> = fc.stringMatching(/^[A-Za-z0-9\-_]{1,20}$/);

const nameArbitrary = fc.stringMatching(/^[A-Za-z$_][A-Za-z0-9$_]{0,8}$/);
const qualifiedNameArbitrary = fc
  .tuple(fc.array(nameArbitrary, { minLength: 1, maxLength: 3 }), nameArbitrary)
  .map(([modules, entity]) => `${modules.join('.')}:${entity}`);

/** As answers have it: `package-id:Module:Entity`. */
export const identifierArbitrary: fc.Arbitrary<string> = fc
  .tuple(hex(64), qualifiedNameArbitrary)
  .map((parts) => parts.join(':'));

/** As requests may have it, by the name or by the id of the package. */
export const templateIdArbitrary: fc.Arbitrary<TemplateId> = fc.oneof(
  fc.tuple(packageNameArbitrary, qualifiedNameArbitrary).map(([name, rest]) => `#${name}:${rest}`),
  identifierArbitrary,
);

export const ledgerStringArbitrary: fc.Arbitrary<LedgerString> = fc.oneof(
  fc.uuid(),
  fc.stringMatching(/^[A-Za-z0-9#:.\-_/ ]{1,30}$/),
);

export const userIdArbitrary: fc.Arbitrary<UserId> = fc.stringMatching(/^[a-zA-Z0-9@^$.!`\-#+'~_|:()]{0,30}$/);

export const base64Arbitrary: fc.Arbitrary<string> = fc
  .uint8Array({ minLength: 1, maxLength: 40 })
  .map((bytes) => Buffer.from(bytes).toString('base64'));

export const transactionHashArbitrary: fc.Arbitrary<string> = hex(64);

export const hashingSchemeVersionArbitrary: fc.Arbitrary<HashingSchemeVersion> = fc.constantFrom<HashingSchemeVersion>(
  'HASHING_SCHEME_VERSION_UNSPECIFIED',
  'HASHING_SCHEME_VERSION_V2',
  'HASHING_SCHEME_VERSION_V3',
  'HASHING_SCHEME_VERSION_V4',
);
