import process from 'node:process';
import { afterEach, describe, expect, it } from '@jest/globals';
import type * as t from 'io-ts';
import {
  Base64,
  HashingSchemeVersion,
  LedgerString,
  Party,
  TemplateId,
  Timestamp,
  UserId,
} from '../../../src/codecs/scalars.js';
import { ExecuteResponse } from '../../../src/codecs/Transaction.js';
import { JsCantonError } from '../../../src/codecs/JsCantonError.js';
import { LedgerEnd } from '../../../src/codecs/OffsetCheckpoint.js';
import { PreparedSubmission } from '../../../src/codecs/SubmissionRequest.js';
import { UpdateElement } from '../../../src/codecs/Update.js';
import { UpdatesRequest } from '../../../src/codecs/UpdatesRequest.js';
import { decode, jsonRoundTrip, problemsIn, sample } from '../../codecs/support.js';

const keys = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf', '__defineGetter__'];
const prototypeKeys = Reflect.ownKeys(Object.prototype).length;
afterEach(() => {
  expect(Reflect.ownKeys(Object.prototype)).toHaveLength(prototypeKeys);
  expect('polluted' in {}).toBe(false);
});

/** Whether every object in a value has the prototype that JSON.parse sets. */
function isPlain(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  const isOwn = prototype === Object.prototype || prototype === Array.prototype;
  return isOwn && Reflect.ownKeys(value).every((key) => isPlain(Object.getOwnPropertyDescriptor(value, key)?.value));
}

/** JSON text with an additional field in each of its objects, but for those that name a variant. */
const withField = (json: unknown, key: string): string =>
  JSON.stringify(json).replaceAll(/\{"(?!update"|value"|event"|[A-Z])/g, `{"${key}":{"polluted":1},"`);

/** JSON.parse, since an object literal would set a prototype. */
const parsed = (text: string): unknown => JSON.parse(text);

const answers: readonly (readonly [string, t.Decoder<unknown, unknown>, unknown])[] = [
  ['an end', LedgerEnd, { offset: 1, synchronizerTimes: [] }],
  ['a prepared submission', PreparedSubmission, sample('prepare-response', 'wire')],
  ['an execution', ExecuteResponse, sample('execute-response', 'wire')],
];

describe.each(keys)('%s', (key) => {
  it.each(answers)('is a field like any other of %s', (_, codec, wire) => {
    const found = codec.decode(parsed(`{"${key}":{"polluted":1},${JSON.stringify(wire).slice(1)}`));
    expect(found._tag).toBe('Right');
    expect(isPlain(found)).toBe(true);
  });

  it('is the name of an unknown variant', () => {
    const wire = parsed(`{"update":{"${key}":{"value":{"offset":7,"polluted":1}}}}`);
    const update = decode(UpdateElement, wire);
    expect(update).toMatchObject({ _tag: 'UnknownUpdate', variant: key, offset: 7 });
    expect(isPlain(update)).toBe(true);
    expect(jsonRoundTrip(UpdateElement.encode(update))).toEqual(wire);
  });

  it.each([`{"${key}":{"polluted":1}}`, `{"update":{"${key}":7}}`, `{"update":{"${key}":{"value":{}}}}`])(
    'is not an update: %s',
    (text) => {
      expect(problemsIn(UpdateElement, parsed(text))).not.toEqual([]);
    },
  );

  it('is a field of a payload and of its nested objects', () => {
    const transaction = sample('execute-response', 'wire');
    const text = JSON.stringify(transaction).replace(
      '"createArgument":{',
      `"createArgument":{"${key}":{"a":{"${key}":1}},`,
    );
    const found = decode(ExecuteResponse, parsed(text));
    expect(JSON.stringify(found)).toContain(`"${key}":{"a":{"${key}":1}}`);
    expect(isPlain(found)).toBe(true);
  });

  it('is a key of an error and of its context', () => {
    const text = `{"code":"A","cause":"b","errorCategory":8,"${key}":{"polluted":1},"context":{"${key}":"c"}}`;
    const { context } = decode(JsCantonError, parsed(text));
    expect(Object.entries(context)).toEqual([[key, 'c']]);
    expect(isPlain(context)).toBe(true);
  });

  it('is a party like any other', () => {
    const text = `{"beginExclusive":0,"filter":{"filtersByParty":{"${key}":{}}}}`;
    const request = decode(UpdatesRequest, parsed(text));
    expect(Object.keys(request.filter?.filtersByParty ?? {})).toEqual([key]);
    expect(isPlain(request)).toBe(true);
    expect(JSON.stringify(UpdatesRequest.encode(request))).toContain(`"${key}":{"cumulative":[]}`);
  });

  it('may be in every object of an update', () => {
    const text = withField(sample('updates-3.5', 'wire', 0), key);
    expect(text.split(`"${key}"`).length).toBeGreaterThan(5);
    expect(isPlain(decode(UpdateElement, parsed(text)))).toBe(true);
  });
});

describe('an offset', () => {
  it.each(['-0', '0e5', '7', '7.0', '70e-1', '9007199254740991'])('may be %s', (text) => {
    expect(problemsIn(LedgerEnd, parsed(`{"offset":${text}}`))).toEqual([]);
  });

  it('that occurs twice is the last one', () => {
    expect(decode(LedgerEnd, parsed('{"offset":"a","offset":7}'))).toMatchObject({ offset: 7 });
    expect(problemsIn(LedgerEnd, parsed('{"offset":7,"offset":"a"}'))).toHaveLength(1);
  });
});

/** The part of a codec that is tested here. */
interface Codec {
  readonly decode: (u: unknown) => unknown;
  readonly is: (u: unknown) => boolean;
}

describe('a large value', () => {
  const mega = 10 * 2 ** 20;
  /** A search that begins again at each character takes minutes for this many, and one that does not milliseconds. */
  const maxMs = 10_000;
  /** The processor time of some work, in milliseconds. */
  const measureMs = (work: () => unknown): number => {
    const begun = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(begun);
    return (user + system) / 1_000;
  };

  it.each<[string, Codec, string]>([
    ['TemplateId', TemplateId, `#p:${'a.'.repeat(mega / 2)}:a`],
    ['TemplateId', TemplateId, 'a'.repeat(mega)],
    ['TemplateId', TemplateId, `#p:${'$.'.repeat(1_100)}`],
    ['Timestamp', Timestamp, `2026-01-01T00:00:00.${'9'.repeat(mega)}Z`],
    ['Party', Party, `${'a'.repeat(mega)}!`],
    ['LedgerString', LedgerString, `${' '.repeat(mega)}!`],
    ['UserId', UserId, `${'a'.repeat(mega)} `],
    ['Base64', Base64, '='.repeat(mega)],
    ['Base64', Base64, `${'A'.repeat(mega - 1)}!`],
    ['HashingSchemeVersion', HashingSchemeVersion, `HASHING_SCHEME_VERSION_V${'1'.repeat(mega)}`],
  ])('is refused by %s in time that grows as its length', (_, codec, text) => {
    expect(measureMs(() => codec.decode(text))).toBeLessThan(maxMs);
    expect(codec.is(text)).toBe(false);
  });

  it('is decoded, if it is a signed transaction', () => {
    expect(measureMs(() => Base64.decode('A'.repeat(mega)))).toBeLessThan(maxMs);
  });

  it('leads to at most 300 problems', () => {
    const events = Array<number>(1_000_000).fill(0);
    const found = problemsIn(UpdateElement, { update: { Transaction: { value: { offset: 1, events } } } });
    expect(found.length).toBeGreaterThan(50);
    expect(found.length).toBeLessThan(300);
  });

  it('is not quoted, if it is a name', () => {
    const found = problemsIn(UpdateElement, { update: { ['a payload '.repeat(100)]: { payload: 1 } } });
    expect(found).toEqual(['update.…: expected an offset']);
  });

  it('may have any depth', () => {
    const deep = parsed(`${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`);
    const found = decode(UpdateElement, { update: { New: { value: { offset: 1, deep } } } });
    expect(found).toMatchObject({ _tag: 'UnknownUpdate', offset: 1 });
    expect(problemsIn(UpdateElement, deep)).toHaveLength(1);
  });
});
