import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  Base64,
  HashingSchemeVersion,
  LedgerString,
  Party,
  TemplateId,
  Timestamp,
  UserId,
} from '../../src/codecs/scalars.js';
import { anyCodec, type AnyCodec, decode, problemsIn } from './support.js';
import { base64Arbitrary, timestampArbitrary } from '../helpers/arbitraries/index.js';

interface Rule {
  readonly codec: AnyCodec;
  readonly expected: string;
  readonly valid: readonly string[];
  readonly invalid: readonly string[];
}

const hash = '1220'.padEnd(68, 'ab');
const upperAndLower = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const rules: readonly Rule[] = [
  {
    codec: anyCodec(LedgerString),
    expected: 'LedgerString, 1 to 255 of A-Z a-z 0-9 # : - _ / and space',
    valid: [
      'a',
      ' ',
      '3b241101-e2bb-4255-8caf-4136c566a962',
      `${upperAndLower}0123456789#:-_/ `,
      'a'.repeat(255),
      hash,
    ],
    invalid: ['', 'a'.repeat(256), 'a.b', 'é', 'a\n', '\ta', 'a+b', 'a@b', 'a\\b', 'a\u0000', '٣', '😀'],
  },
  {
    codec: anyCodec(Party),
    expected: 'Party, 1 to 255 of A-Z a-z 0-9 : - _ and space',
    valid: [`alice::${hash}`, 'Alice', 'a b', '-', '::', 'a'.repeat(255), `${upperAndLower}0123456789:-_ `],
    invalid: ['', 'a'.repeat(256), 'a#b', 'a/b', 'a.b', 'alice@bank', 'a\n', 'ß'],
  },
  {
    codec: anyCodec(UserId),
    expected: 'UserId, at most 128 characters without a space',
    valid: ['', 'participant_admin', "a@^$.!`-#+'~_|:b", 'auth0|(42)', 'a'.repeat(128), `${upperAndLower}0123456789`],
    invalid: ['a'.repeat(129), 'a b', 'a/b', 'a\\b', 'a"b', 'ü', 'a\n', 'a,b', 'a%b'],
  },
  {
    codec: anyCodec(TemplateId),
    expected: 'TemplateId, #package-name:Module:Entity or package-id:Module:Entity',
    valid: [
      '#trade-bond:Trade.Bond:Bond',
      `${'c'.repeat(64)}:Main:Asset`,
      '#p:M:E',
      '#p:$M._N:$E_1',
      `#${'p'.repeat(255)}:M:E`,
    ],
    invalid: [
      '',
      'Main:Asset',
      '#p:Main',
      '#p:Main:Asset:Extra',
      '#p:Main.Asset',
      '#:Main:Asset',
      ':Main:Asset',
      '#p::Asset',
      '#p:Main:',
      '#p:1Main:Asset',
      '#p:Main.:Asset',
      '#p:.Main:Asset',
      '#p:Main:As-set',
      '#p:Main:Asset\n',
      `${'c'.repeat(65)}:Main:Asset`,
      `#${'p'.repeat(256)}:M:E`,
      '##p:M:E',
      '%23p:M:E',
    ],
  },
  {
    codec: anyCodec(Base64),
    expected: 'padded Base64',
    valid: ['AA==', 'AAA=', 'AAAA', 'CgA=', '+/+/', 'AAAAAA=='],
    invalid: [
      '',
      'A',
      'AA',
      'AAA',
      'AA=',
      'AAA==',
      'A===',
      '====',
      '=AAA',
      'AA==AAAA',
      'AA-_',
      'AAAA\n',
      ' AAA',
      'AA=A',
    ],
  },
  {
    codec: anyCodec(HashingSchemeVersion),
    expected: 'HASHING_SCHEME_VERSION_V2, _V3 or newer',
    valid: [
      'HASHING_SCHEME_VERSION_UNSPECIFIED',
      'HASHING_SCHEME_VERSION_V2',
      'HASHING_SCHEME_VERSION_V3',
      'HASHING_SCHEME_VERSION_V4',
      'HASHING_SCHEME_VERSION_V10',
    ],
    invalid: [
      '',
      'V2',
      'HASHING_SCHEME_VERSION_V',
      'HASHING_SCHEME_VERSION_V0',
      'HASHING_SCHEME_VERSION_V2 ',
      'hashing_scheme_version_v2',
      'HASHING_SCHEME_VERSION_V1.5',
      'HASHING_SCHEME_VERSION_V1e3',
    ],
  },
  {
    codec: anyCodec(Timestamp),
    expected: 'Timestamp, ISO 8601 in UTC',
    valid: [
      '1970-01-01T00:00:00Z',
      '2026-03-02T08:15:30.5Z',
      '2026-03-02T08:15:30.301Z',
      '2026-03-02T08:15:30.301763Z',
      '2026-03-02T08:15:30.123456789Z',
      '-0001-01-01T00:00:00Z',
      '+10000-01-01T00:00:00Z',
    ],
    invalid: [
      '',
      '2026-03-02',
      '2026-03-02T08:15:30',
      '2026-03-02T08:15:30+01:00',
      '2026-03-02 08:15:30Z',
      '2026-03-02T08:15:30.Z',
      '2026-03-02T08:15:30.1234567890Z',
      '2026-03-02T08:15:30z',
      '2026-03-02T08:15:30Z\n',
    ],
  },
];

describe.each(rules.map((rule) => ({ name: rule.codec.name, ...rule })))(
  '$name',
  ({ codec, expected, valid, invalid }) => {
    it.each(valid)('accepts %j', (value) => {
      expect(decode(codec, value)).toBe(value);
      expect(codec.is(value)).toBe(true);
      expect(codec.encode(value)).toBe(value);
    });

    it.each(invalid)('rejects %j', (value) => {
      expect(problemsIn(codec, value)).toStrictEqual([`expected ${expected}`]);
      expect(codec.is(value)).toBe(false);
    });

    it.each([null, undefined, 1, true, ['a'], { a: 'a' }])('rejects %j, which is not a string', (value) => {
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
});

describe('Timestamp', () => {
  it("accepts the output of Java's Instant", () => {
    fc.assert(fc.property(timestampArbitrary, (text) => Timestamp.is(text)));
  });

  it('keeps every digit', () => {
    expect(decode(Timestamp, '2026-03-02T08:15:30.000000100Z')).toBe('2026-03-02T08:15:30.000000100Z');
  });
});
