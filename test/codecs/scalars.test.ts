import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fromBase64, toBase64 } from '../../src/codecs/internal/field.js';
import { Duration } from '../../src/codecs/MinLedgerTime.js';
import {
  Base64,
  HashingSchemeVersion,
  Int64,
  LedgerString,
  Offset,
  Party,
  TemplateId,
  Timestamp,
  UserId,
} from '../../src/codecs/scalars.js';
import { Transaction } from '../../src/codecs/Transaction.js';
import { UpdatesRequest } from '../../src/codecs/UpdatesRequest.js';
import { base64Arbitrary, timestampArbitrary } from '../helpers/arbitraries/index.js';
import { anyCodec, type AnyCodec, decode, problemsIn, replaceAt, sample } from './support.js';

interface Rule {
  readonly codec: AnyCodec;
  readonly expected: string;
  readonly valid: readonly unknown[];
  readonly invalid: readonly unknown[];
}

const MAX = Number.MAX_SAFE_INTEGER;
const hash = '1220'.padEnd(68, 'ab');
const alphanumeric = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const words = (text: string): string[] => text.split(' ');
const notText = [null, undefined, 1, true, ['a'], { a: 'a' }];
const notWhole = [2 ** 53, -(2 ** 53), 9007199254740993n.toString(), 1.5, NaN, Infinity, '1', '', null, true, [], {}];
const scheme = (...versions: readonly string[]) => versions.map((version) => `HASHING_SCHEME_VERSION_${version}`);
const at = (...times: readonly string[]) => times.map((time) => `2026-03-02T08:15:${time}`);

const rules: readonly Rule[] = [
  {
    codec: anyCodec(Int64),
    expected: 'Int64, a whole number within 2^53 - 1',
    valid: [0, 1, -1, MAX, -MAX],
    invalid: notWhole,
  },
  {
    codec: anyCodec(Offset),
    expected: 'Offset, a whole number from 0 to 2^53 - 1',
    valid: [0, 1, MAX],
    invalid: [-1, ...notWhole],
  },
  {
    codec: anyCodec(LedgerString),
    expected: 'LedgerString, 1 to 255 of A-Z a-z 0-9 # : . - _ / and space',
    valid: [
      'a',
      ' ',
      '3b241101-e2bb-4255-8caf-4136c566a962',
      `${alphanumeric}#:.-_/ `,
      'order-1.2',
      '.',
      'a'.repeat(255),
      hash,
    ],
    invalid: ['a'.repeat(256), 'a\n', '\ta', 'a\u0000', ...words(' é a+b a@b a\\b ٣ 😀'), ...notText],
  },
  {
    codec: anyCodec(Party),
    expected: 'Party, 1 to 255 of A-Z a-z 0-9 : - _ and space',
    valid: [`alice::${hash}`, 'Alice', 'a b', '-', '::', 'a'.repeat(255), `${alphanumeric}:-_ `],
    invalid: ['a'.repeat(256), 'a\n', ...words(' a#b a/b a.b alice@bank ß'), ...notText],
  },
  {
    codec: anyCodec(UserId),
    expected: 'UserId, at most 128 characters without a space',
    valid: ['', 'participant_admin', "a@^$.!`-#+'~_|:b", 'auth0|(42)', 'a'.repeat(128), alphanumeric],
    invalid: ['a'.repeat(129), 'a b', 'a\n', ...words('a/b a\\b a"b ü a,b a%b'), ...notText],
  },
  {
    codec: anyCodec(TemplateId),
    expected: 'TemplateId, #package-name:Module:Entity or package-id:Module:Entity',
    valid: [
      ...words('#trade-bond:Trade.Bond:Bond #p:M:E #p:$M._N:$E_1'),
      `${'c'.repeat(64)}:Main:Asset`,
      `#${'p'.repeat(255)}:M:E`,
    ],
    invalid: [
      ...words(' Main:Asset #p:Main #p:Main:Asset:Extra #p:Main.Asset #:Main:Asset :Main:Asset #p::Asset #p:Main:'),
      ...words('#p:1Main:Asset #p:Main.:Asset #p:.Main:Asset #p:Main:As-set ##p:M:E %23p:M:E'),
      ...['#p:Main:Asset\n', `${'c'.repeat(65)}:Main:Asset`, `#${'p'.repeat(256)}:M:E`, ...notText],
    ],
  },
  {
    codec: anyCodec(Base64),
    expected: 'padded Base64',
    valid: words('AA== AAA= AAAA CgA= +/+/ AAAAAA=='),
    invalid: [...words(' A AA AAA AA= AAA== A=== ==== =AAA AA==AAAA AA-_ AA=A'), ...['AAAA\n', ' AAA', ...notText]],
  },
  {
    codec: anyCodec(HashingSchemeVersion),
    expected: 'HASHING_SCHEME_VERSION_V2, _V3 or newer',
    valid: scheme('UNSPECIFIED', 'V2', 'V3', 'V4', 'V10'),
    invalid: ['', 'V2', 'hashing_scheme_version_v2', ...scheme('V', 'V0', 'V2 ', 'V1.5', 'V1e3'), ...notText],
  },
  {
    codec: anyCodec(Timestamp),
    expected: 'Timestamp, ISO 8601 in UTC',
    valid: [
      ...at('30.5Z', '30.301Z', '30.301763Z', '30.123456789Z', '30.000000100Z'),
      ...words('1970-01-01T00:00:00Z -0001-01-01T00:00:00Z +10000-01-01T00:00:00Z'),
    ],
    invalid: [
      ...['', '2026-03-02', '2026-03-02 08:15:30Z', ...notText],
      ...at('30', '30+01:00', '30.Z', '30.1234567890Z', '30z', '30Z\n'),
    ],
  },
];

describe.each(rules.map((rule) => ({ name: rule.codec.name, ...rule })))(
  '$name',
  ({ codec, expected, valid, invalid }) => {
    it.each(valid.map((value) => [value]))('accepts %j', (value) => {
      expect(decode(codec, value)).toBe(value);
      expect(codec.is(value)).toBe(true);
      expect(codec.encode(value)).toBe(value);
    });

    it.each(invalid.map((value) => [value]))('rejects %j', (value) => {
      expect(problemsIn(codec, value)).toStrictEqual([`expected ${expected}`]);
      expect(codec.is(value)).toBe(false);
    });
  },
);

describe('Base64', () => {
  it('accepts the output of an encoder', () => {
    fc.assert(fc.property(base64Arbitrary, (text) => Base64.is(text)));
  });

  it('accepts and rejects a text of many megabytes', () => {
    const text = 'CgVh'.repeat(4 << 20);
    expect(Base64.is(text)).toBe(true);
    expect(Base64.is(`${text}CgV!`)).toBe(false);
    expect(Base64.is(`${text}CgV`)).toBe(false);
  });

  it('is encoded and decoded as by Node.js', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        expect(toBase64(bytes)).toBe(Buffer.from(bytes).toString('base64'));
        expect(Array.from(fromBase64(toBase64(bytes)))).toEqual(Array.from(bytes));
      }),
    );
    // megabytes do not overflow the stack
    expect(fromBase64(toBase64(new Uint8Array(3_000_000).fill(7))).length).toBe(3_000_000);
    expect(() => fromBase64('%')).toThrow();
  });
});

describe('Timestamp', () => {
  it("accepts the output of Java's Instant", () => {
    fc.assert(fc.property(timestampArbitrary, (text) => Timestamp.is(text)));
  });
});

describe('Duration', () => {
  it.each([
    { seconds: 0, nanos: 0 },
    { seconds: MAX, nanos: 999_999_999 },
  ])('accepts %j', (value) => {
    expect(decode(Duration, value)).toStrictEqual(value);
  });

  it.each([
    ...[-1, ...notWhole].map((seconds) => [{ seconds }, 'seconds: expected seconds, a whole number from 0']),
    ...[-1, 1e9, 2 ** 53, 0.5, '0'].map((nanos) => [{ seconds: 1, nanos }, 'nanos: expected nanos, 0 to 999999999']),
  ])('rejects %j', (value, problem) => {
    expect(problemsIn(Duration, value)).toStrictEqual([problem]);
  });
});

describe('a number in a message', () => {
  const offset = 'Offset, a whole number from 0 to 2^53 - 1';
  const int64 = 'Int64, a whole number within 2^53 - 1';

  it.each(['9007199254740993', '-9007199254740993', '1e400', '2.5', '"70"'])('is invalid in an answer: %s', (text) => {
    const wire = sample('updates-3.6', 'wire', 0, 'update', 'Transaction', 'value');
    for (const [path, expected] of [
      ['offset', offset],
      ['events.0.CreatedEvent.nodeId', int64],
      ['paidTrafficCost', int64],
    ] as const) {
      const broken: unknown = JSON.parse(JSON.stringify(replaceAt(wire, path, '@')).replace('"@"', text));
      expect(problemsIn(Transaction, broken)).toStrictEqual([`${path}: expected ${expected}`]);
    }
  });

  it.each([-1, 2 ** 53, 0.5, '1'])('is no offset of a request: %p', (value) => {
    expect(problemsIn(UpdatesRequest, { beginExclusive: value })).toStrictEqual([`beginExclusive: expected ${offset}`]);
    expect(problemsIn(UpdatesRequest, { beginExclusive: 0, endInclusive: value })).toStrictEqual([
      `endInclusive: expected ${offset}`,
    ]);
  });
});
