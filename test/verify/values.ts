import type { Value } from '@canton-network/core-ledger-proto';
import fc from 'fast-check';
import { alice, contractId, v } from './messages.js';

/** A value, and JSON that denotes it. */
export interface Pair {
  readonly json: unknown;
  readonly value: Value;
}

const label = fc.stringMatching(/^[a-z]{1,4}$/);
const optional = (pair: Pair | null): Pair => {
  if (pair === null) return { json: null, value: v.none() };
  const { sum } = pair.value;
  if (sum.oneofKind !== 'optional') return { json: pair.json, value: v.some(pair.value) };
  return { json: sum.optional.value === undefined ? [] : [pair.json], value: v.some(pair.value) };
};

const scalar: fc.Arbitrary<Pair> = fc.oneof(
  fc.constant({ json: {}, value: v.unit() }),
  fc.boolean().map((json) => ({ json, value: v.bool(json) })),
  fc.tuple(fc.maxSafeInteger(), fc.boolean()).map(([int, asText]) => ({
    json: asText ? String(int) : int,
    value: v.int(String(int)),
  })),
  fc.tuple(fc.maxSafeInteger(), fc.nat(10)).map(([int, scale]) => {
    const digits = String(Math.abs(int)).padStart(scale + 1, '0');
    const text = `${int < 0 ? '-' : ''}${digits.slice(0, digits.length - scale)}.${digits.slice(digits.length - scale)}0`;
    return { json: text, value: v.numeric(`${text}00`) };
  }),
  fc.string().map((text) => ({ json: text, value: v.text(text) })),
  fc.constantFrom(alice, 'bob').map((party) => ({ json: party, value: v.party(party) })),
  fc.constantFrom(contractId, '00ab').map((cid) => ({ json: cid, value: v.contract(cid) })),
  fc.date({ min: new Date(0), max: new Date('9999-01-01'), noInvalidDate: true }).map((date) => ({
    json: date.toISOString(),
    value: v.time(`${date.getTime()}000`),
  })),
  fc.integer({ min: 0, max: 100_000 }).map((days) => ({
    json: new Date(days * 86_400_000).toISOString().slice(0, 10),
    value: v.date(days),
  })),
  label.map((name) => ({ json: name, value: v.enum(name) })),
);

const { pair } = fc.letrec<{ pair: Pair }>((tie) => {
  const inner = tie('pair');
  const members = fc.dictionary(label, inner, { maxKeys: 4, noNullPrototype: true });
  const jsons = (of: Readonly<Record<string, Pair>>) =>
    Object.fromEntries(Object.entries(of).map(([k, { json }]) => [k, json]));
  const values = (of: Readonly<Record<string, Pair>>) =>
    Object.fromEntries(Object.entries(of).map(([k, { value }]) => [k, value]));
  return {
    pair: fc.oneof(
      { maxDepth: 5, depthSize: 'medium' },
      scalar,
      members.map((of) => ({ json: jsons(of), value: v.record(values(of)) })),
      members.map((of) => ({ json: jsons(of), value: v.textMap(...Object.entries(values(of))) })),
      members.map((of) => ({
        json: Object.entries(jsons(of)).reverse(),
        value: v.genMap(...Object.entries(values(of)).map(([k, value]) => [v.text(k), value] as const)),
      })),
      fc.array(inner, { maxLength: 4 }).map((of) => ({
        json: of.map(({ json }) => json),
        value: v.list(...of.map(({ value }) => value)),
      })),
      fc
        .tuple(label, inner)
        .map(([tag, { json, value }]) => ({ json: { tag, value: json }, value: v.variant(tag, value) })),
      fc.option(inner).map(optional),
      fc.option(fc.option(inner).map(optional)).map(optional),
    ),
  };
});

/** Values of every type, nested. */
export const pairArbitrary: fc.Arbitrary<Pair> = pair;

/** The values that differ from this one by a single change, of the same type where possible. */
export function changedValues({ sum }: Value): readonly Value[] {
  switch (sum.oneofKind) {
    case 'bool':
      return [v.bool(!sum.bool)];
    case 'int64':
      return [v.int(sum.int64 === '7' ? '8' : '7'), v.numeric(sum.int64 === '7' ? '8' : '7')];
    case 'numeric':
      return [v.numeric(`${sum.numeric}1`), v.numeric(`1${sum.numeric.replace('-', '')}`)];
    case 'text':
      return [v.text(`${sum.text}.`)];
    case 'party':
      return [v.party(`${sum.party}.`)];
    case 'contractId':
      return [v.contract(`${sum.contractId}00`)];
    case 'date':
      return [v.date(sum.date + 1)];
    case 'timestamp':
      return [v.time(String(BigInt(sum.timestamp) + 1n))];
    case 'enum':
      return [v.enum(`${sum.enum.constructor}_`)];
    case 'variant': {
      const { constructor, value = v.unit() } = sum.variant;
      return [
        v.variant(`${constructor}_`, value),
        ...changedValues(value).map((other) => v.variant(constructor, other)),
      ];
    }
    case 'optional': {
      const { value } = sum.optional;
      return value === undefined
        ? [v.some(v.unit()), v.some(v.none())]
        : [v.none(), ...changedValues(value).map(v.some)];
    }
    case 'list': {
      const { elements } = sum.list;
      return [v.list(...elements, v.unit()), ...changeOne(elements).map((others) => v.list(...others))];
    }
    case 'textMap': {
      const keys = sum.textMap.entries.map(({ key }) => key);
      return changeOne(sum.textMap.entries.map(({ value = v.unit() }) => value)).map((others) =>
        v.textMap(...others.map((value, index) => [keys[index] ?? 'zzzzz', value] as const)),
      );
    }
    case 'genMap': {
      const keys = sum.genMap.entries.map(({ key = v.unit() }) => key);
      return changeOne(sum.genMap.entries.map(({ value = v.unit() }) => value)).map((others) =>
        v.genMap(...others.map((value, index) => [keys[index] ?? v.unit(), value] as const)),
      );
    }
    case 'record': {
      const entries = sum.record.fields.map(({ label, value = v.unit() }) => [label, value] as const);
      return [
        v.record(Object.fromEntries([...entries, ['zzzzz', v.text('more')]])),
        ...changeOne(entries.map(([, value]) => value)).map((others) =>
          v.record(Object.fromEntries(others.map((value, index) => [entries[index]?.[0] ?? 'zzzzz', value]))),
        ),
      ];
    }
    default:
      return [v.text('no unit')];
  }
}

const changeOne = (values: readonly Value[]): readonly (readonly Value[])[] =>
  values.flatMap((value, index) => changedValues(value).map((other) => values.toSpliced(index, 1, other)));
