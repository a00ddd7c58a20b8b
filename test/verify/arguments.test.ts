import type { Value } from '@canton-network/core-ledger-proto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  alice,
  contractId,
  createNode,
  createOf,
  preparedOf,
  transactionOf,
  v,
  verdict,
  verdictOn,
} from './messages.js';
import { changedValues, pairArbitrary } from './values.js';
import { effort } from '../helpers/effort.js';

const { some } = v;
const int1 = v.int('1');
const large = '9999999999999999999999999999.9999999999';
const fieldsOf = (...fields: (readonly [string, Value])[]): Value => ({
  sum: { oneofKind: 'record', record: { fields: fields.map(([label, value]) => ({ label, value })) } },
});
const equal: readonly (readonly [string, unknown, Value])[] = [
  ['unit', {}, v.unit()],
  ['bool', true, v.bool(true)],
  ['int64 as text', '42', v.int('42')],
  ['int64 as number', -42, v.int('-42')],
  ['int64, the largest that can be hashed', '9007199254740991', v.int('9007199254740991')],
  ['numeric as text', '10.0', v.numeric('10.0000000000')],
  ['numeric as number', 10.5, v.numeric('10.5000000000')],
  ['numeric with an exponent', 1e-7, v.numeric('0.0000001000')],
  ['numeric, large', large, v.numeric(large)],
  ['numeric, large, as a number', 1e21, v.numeric('1000000000000000000000.0')],
  ['numeric, negative', '-0.10', v.numeric('-0.1')],
  ['numeric, zero', '-0', v.numeric('0.0000000000')],
  ['text', 'a\u0000ü😀', v.text('a\u0000ü😀')],
  ['party', alice, v.party(alice)],
  ['contract id', contractId, v.contract(contractId)],
  ['date', '2026-02-28', v.date(20_512)],
  ['date before 1970', '0001-01-01', v.date(-719_162)],
  ['timestamp', '2026-01-01T00:00:00.123456Z', v.time('1767225600123456')],
  ['timestamp, whole seconds', '2026-01-01T00:00:00Z', v.time('1767225600000000')],
  ['timestamp with zeros', '2026-01-01T00:00:00.120000000Z', v.time('1767225600120000')],
  ['timestamp before 1970', '1969-12-31T23:59:59.999999Z', v.time('-1')],
  ['none', null, v.none()],
  ['none, absent', undefined, v.none()],
  ['some', 'x', some(v.text('x'))],
  ['some of none', [], some(v.none())],
  ['some of some', ['x'], some(some(v.text('x')))],
  ['some of some of none', [[]], some(some(v.none()))],
  ['some of some of some', [['x']], some(some(some(v.text('x'))))],
  ['some of a list', [], some(v.list())],
  ['list', ['1', '2'], v.list(v.int('1'), v.int('2'))],
  ['text map', { b: '1', __proto: '2' }, v.textMap(['__proto', v.int('2')], ['b', v.int('1')])],
  ['text map with odd keys', JSON.parse('{"__proto__":"1","":"2"}'), v.textMap(['', v.int('2')], ['__proto__', int1])],
  ['gen map', Object.entries({ 2: 'b', 1: 'a' }).reverse(), v.genMap([int1, v.text('a')], [v.int('2'), v.text('b')])],
  ['record', { a: '1', b: null }, v.record({ a: v.int('1'), b: v.none() })],
  ['record by position', ['1', 'x'], v.record({ a: v.int('1'), b: v.text('x') })],
  ['record by position, none at the end', ['1'], v.record({ a: v.int('1'), b: v.none() })],
  ['record by position, none dropped', ['1', null], v.record({ a: v.int('1') })],
  ['record, none absent', { a: '1' }, v.record({ a: v.int('1'), b: v.none() })],
  ['record, none omitted by the ledger', { a: '1', b: null, c: undefined }, v.record({ a: v.int('1') })],
  ['record without fields', {}, v.record({})],
  ['variant', { tag: 'Left', value: '1' }, v.variant('Left', v.int('1'))],
  ['variant of unit', { tag: 'None', value: {} }, v.variant('None', v.unit())],
  ['enum', 'Red', v.enum('Red')],
];

const different: readonly (readonly [string, unknown, Value])[] = [
  ['unit', { a: 1 }, v.unit()],
  ['unit as null', null, v.unit()],
  ['bool', 'true', v.bool(true)],
  ['int64, one beyond the precision of doubles', '9007199254740993', v.int('9007199254740991')],
  ['int64 as a rounded number', 9007199254740992, v.int('9007199254740991')],
  ['int64 with a fraction', 1.5, v.int('1')],
  ['int64 as 1e2', '1e2', v.int('100')],
  ['int64 as empty text', '', v.int('0')],
  ['int64 as none', null, v.int('0')],
  ['int64 as false', false, v.int('0')],
  ['numeric', '10.0000000001', v.numeric('10.0000000000')],
  ['numeric, in the last of many digits', large.replace(/9$/, '8'), v.numeric(large)],
  ['numeric, another sign', '-1.0', v.numeric('1.0')],
  ['numeric, ten times', '100', v.numeric('10.0')],
  ['numeric as empty text', '', v.numeric('0.0')],
  ['numeric as no number', NaN, v.numeric('0.0')],
  ['text', 'a', v.text('b')],
  ['text, in another normal form', 'u\u0308', v.text('ü')],
  ['text as a party', alice, v.text('bob')],
  ['party', 'bob', v.party(alice)],
  ['contract id', `${contractId}00`, v.contract(contractId)],
  ['date', '2026-03-01', v.date(20_512)],
  ['date, invalid', '2026-02-30', v.date(20_514)],
  ['date, far away', '2026-02-28', v.date(2_147_483_647)],
  ['timestamp', '2026-01-01T00:00:00.123457Z', v.time('1767225600123456')],
  ['timestamp, with nanoseconds', '2026-01-01T00:00:00.123456001Z', v.time('1767225600123456')],
  ['timestamp in another zone', '2026-01-01T00:00:00+01:00', v.time('1767225600000000')],
  ['timestamp, invalid', '2026-02-30T00:00:00Z', v.time('1772409600000000')],
  ['some for none', 'x', v.none()],
  ['none for some', null, some(v.text('x'))],
  ['none for some of unit', undefined, some(v.unit())],
  ['none for some of none', null, some(v.none())],
  ['some of none for none', [], v.none()],
  ['some of some, another', ['y'], some(some(v.text('x')))],
  ['some of some, no list', 'x', some(some(v.text('x')))],
  ['list, longer', ['1', '2'], v.list(v.int('1'))],
  ['list, shorter', ['1'], v.list(v.int('1'), v.int('2'))],
  ['list in another order', ['2', '1'], v.list(v.int('1'), v.int('2'))],
  ['list as an object', {}, v.list()],
  ['text map, another value', { a: '2' }, v.textMap(['a', v.int('1')])],
  ['text map, another key', { b: '1' }, v.textMap(['a', v.int('1')])],
  ['text map, inherited key', {}, v.textMap(['toString', v.int('1')])],
  ['text map, a key twice', { a: '1' }, v.textMap(['a', v.int('1')], ['a', v.int('1')])],
  ['gen map, another value', [['1', 'b']], v.genMap([v.int('1'), v.text('a')])],
  ['gen map, another key', [['2', 'a']], v.genMap([v.int('1'), v.text('a')])],
  ['gen map, a key twice', Array(2).fill(['1', 'a']), v.genMap([int1, v.text('a')], [v.int('2'), v.text('a')])],
  ['gen map, not a pair', ['1'], v.genMap([v.int('1'), v.text('a')])],
  ['record, an additional field', { a: '1' }, v.record({ a: v.int('1'), b: v.int('2') })],
  ['record, a missing field', { a: '1', b: '2' }, v.record({ a: v.int('1') })],
  ['record, another label', { a: '1' }, v.record({ b: v.int('1') })],
  ['record by position, a missing field', ['1', '2'], v.record({ a: v.int('1') })],
  ['record by position, an additional field', ['1'], v.record({ a: v.int('1'), b: v.int('2') })],
  ['record without labels', { a: '1' }, v.record({ '': v.int('1') })],
  ['record with a field that has no label', { '': '1' }, v.record({ '': v.int('1') })],
  ['record with a label twice', { a: '1' }, fieldsOf(['a', v.int('1')], ['a', v.int('1')])],
  ['record with a label twice, one of them None', { a: null }, fieldsOf(['a', v.none()], ['a', v.none()])],
  ['record as text', 'a', v.record({})],
  ['record as null', null, v.record({})],
  ['variant, another tag', { tag: 'Right', value: '1' }, v.variant('Left', v.int('1'))],
  ['variant, another value', { tag: 'Left', value: '2' }, v.variant('Left', v.int('1'))],
  ['variant, no value', { tag: 'Left' }, v.variant('Left', v.int('1'))],
  ['variant, an additional key', { tag: 'Left', value: '1', more: 1 }, v.variant('Left', v.int('1'))],
  ['enum', 'Blue', v.enum('Red')],
];

describe('an argument', () => {
  it.each(equal)('equals the requested one: %s', async (_, json, value) => {
    expect(await verdictOn(json, value)).toBe('accepted');
  });

  it.each(different)('differs from the requested one: %s', async (_, json, value) => {
    expect(await verdictOn(json, value)).toMatch(/^commands commands\[0\]\.createArguments\.it/);
  });

  it('is rejected with its field if the hashing library would round it', async () => {
    const field = 'hash commands[0].createArguments.it';
    expect(await verdictOn('9007199254740993', v.int('9007199254740993'))).toBe(field);
    expect(await verdictOn('9007199254740993', v.int('9007199254740992'))).toBe(field);
  });

  it('equals the requested one at any depth', async () => {
    await fc.assert(
      fc.asyncProperty(pairArbitrary, async ({ json, value }) => {
        expect(await verdictOn(json, value)).toBe('accepted');
      }),
      { numRuns: 300 },
    );
  });

  it('is rejected with any single change', async () => {
    const numRuns = effort(200, 1_000);
    let changes = 0;
    await fc.assert(
      fc.asyncProperty(pairArbitrary, fc.nat(), async ({ json, value }, which) => {
        const others = changedValues(value);
        const changed = others[which % others.length];
        if (changed === undefined) return;
        changes++;
        expect(await verdictOn(json, changed)).toMatch(/^commands commands\[0\]\.createArguments/);
      }),
      { numRuns },
    );
    expect(changes).toBeGreaterThan(0.75 * numRuns);
  });

  it('is named but not quoted in an error', async () => {
    const secret = 'a-secret';
    const prepared = await preparedOf(transactionOf(createNode('0', v.record({ [secret]: v.text(secret) }))));
    expect(await verdict(prepared, createOf({}))).toBe('commands commands[0].createArguments');
    const map = v.record({ map: v.textMap([secret, v.text('1')]) });
    const other = await preparedOf(transactionOf(createNode('0', map)));
    const field = 'commands commands[0].createArguments.map[0]';
    expect(await verdict(other, createOf({ map: { [secret]: '2' } }))).toBe(field);
  });
});
