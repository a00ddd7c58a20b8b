import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import * as t from 'io-ts';
import { CreatedEvent } from '../../src/codecs/Event.js';
import { Transaction } from '../../src/codecs/Transaction.js';
import { Update, UpdateElement } from '../../src/codecs/Update.js';
import { updateArbitrary } from '../helpers/arbitraries/index.js';
import { decode, toEntries, fixture, jsonRoundTrip, problemsIn } from './support.js';
import { effort } from '../helpers/effort.js';

const names = ['updates-3.3', 'updates-3.4', 'updates-3.5', 'updates-3.6', 'updates-of-a-newer-ledger'];
const samples = names.flatMap((name): readonly unknown[] => {
  const { wire } = fixture(name) as { readonly wire: readonly unknown[] };
  return wire;
});

type Path = readonly (string | number)[];

/** The paths of all values in a JSON value. */
const pathsOf = (json: unknown, path: Path = []): readonly Path[] =>
  typeof json === 'object' && json !== null
    ? [
        path,
        ...Object.entries(json).flatMap(([key, content]) =>
          pathsOf(content, [...path, Array.isArray(json) ? Number(key) : key]),
        ),
      ]
    : [path];

/** A copy with another value at a path; `undefined` removes it. */
function setAt(json: unknown, [key, ...rest]: Path, value: unknown): unknown {
  if (key === undefined) return value;
  const copy: unknown[] | Record<string, unknown> = Array.isArray(json)
    ? [...(json as unknown[])]
    : { ...(json as object) };
  const object = copy as Record<string | number, unknown>;
  object[key] = setAt(object[key], rest, value);
  return copy;
}

const values = [
  undefined,
  null,
  '',
  'x',
  0,
  -1,
  0.5,
  2 ** 53,
  true,
  [],
  [null],
  ['x'],
  {},
  { value: {} },
  '2026-03-02T08:15:30Z',
];

/** Samples of the wire with some of their values replaced. */
const mutationArbitrary: fc.Arbitrary<unknown> = fc
  .constantFrom(...samples)
  .chain((wire) =>
    fc
      .array(fc.tuple(fc.constantFrom(...pathsOf(wire)), fc.constantFrom(...values)), { maxLength: 3 })
      // the longest path first: a value is replaced after its parts
      .map((changes) =>
        [...changes]
          .sort(([one], [other]) => other.length - one.length)
          .reduce((at, [path, value]) => setAt(at, path, value), wire),
      ),
  )
  .map((json) => (json === undefined ? undefined : jsonRoundTrip(json)));

/** Freezes a value and all of its parts. */
function deepFreeze<A>(value: A): A {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(deepFreeze);
  return value;
}

const isRecord = (u: unknown): u is Record<string, unknown> => typeof u === 'object' && u !== null && !Array.isArray(u);
const transactions = samples.filter((wire) => JSON.stringify(wire).startsWith('{"update":{"Transaction":'));

describe('decoding', () => {
  it('does not modify its input', () => {
    fc.assert(
      fc.property(mutationArbitrary, (json) => {
        const before = JSON.stringify(json);
        UpdateElement.decode(deepFreeze(json));
        expect(JSON.stringify(json)).toBe(before);
      }),
      { numRuns: effort(300, 1_000) },
    );
  });

  it('is the inverse of encoding, in any order of fields and after any other value', () => {
    fc.assert(
      fc.property(fc.array(updateArbitrary, { minLength: 2, maxLength: 4 }), fc.boolean(), (updates, isReversed) => {
        for (const update of updates) {
          const wire = jsonRoundTrip(UpdateElement.encode(update));
          expect(toEntries(decode(UpdateElement, isReversed ? reverseKeys(wire) : wire))).toStrictEqual(
            toEntries(update),
          );
        }
      }),
    );
  });

  it('ignores an enumerable property of Object.prototype', () => {
    Object.defineProperty(Object.prototype, 'stranger', { value: 1, enumerable: true, configurable: true });
    try {
      for (const wire of samples) expect(UpdateElement.decode(wire)._tag).toBe('Right');
    } finally {
      Reflect.deleteProperty(Object.prototype, 'stranger');
    }
  });
});

/** The same value with the fields of every object in reverse order. */
function reverseKeys(json: unknown): unknown {
  if (Array.isArray(json)) return json.map(reverseKeys);
  if (!isRecord(json)) return json;
  return Object.fromEntries(
    Object.entries(json)
      .reverse()
      .map(([key, value]) => [key, reverseKeys(value)]),
  );
}

describe('within codecs of io-ts', () => {
  const wire = (transactions[0] as { readonly update: { readonly Transaction: { readonly value: unknown } } }).update;
  const broken = setAt(wire, ['Transaction', 'value', 'offset'], -1);
  const offset = 'expected Offset, a whole number from 0 to 2^53 - 1';
  const { value } = wire.Transaction;

  it('Update can be a property', () => {
    const codec = t.type({ a: Update });
    expect(decode(codec, { a: wire })).toStrictEqual({ a: decode(Update, wire) });
    expect(problemsIn(codec, { a: broken })).toEqual([`a.Transaction.value.offset: ${offset}`]);
    expect(problemsIn(codec, {})).toEqual(['a: expected Update']);
  });

  it('Transaction can be an item', () => {
    const codec = t.array(Transaction);
    expect(decode(codec, [value, value])).toStrictEqual([decode(Transaction, value), decode(Transaction, value)]);
    expect(problemsIn(codec, [value, { ...(value as object), offset: -1 }, 7])).toEqual([
      `1.offset: ${offset}`,
      '2: expected Transaction',
    ]);
  });

  it('CreatedEvent can be part of a union and an intersection', () => {
    const codec = t.union([t.string, t.intersection([CreatedEvent, t.type({ mine: t.number })])]);
    const [event] = (value as { readonly events: readonly { readonly CreatedEvent: object }[] }).events;
    expect(decode(codec, { ...event?.CreatedEvent, mine: 1 })).toMatchObject({ _tag: 'CreatedEvent', mine: 1 });
    expect(problemsIn(codec, { ...event?.CreatedEvent, mine: '1', nodeId: '1' })).toEqual([
      '0: expected string',
      '1.0.nodeId: expected Int64, a whole number within 2^53 - 1',
      '1.1.mine: expected number',
    ]);
  });

  it('UpdateElement can be an item or null', () => {
    const codec = t.type({ list: t.readonlyArray(t.union([UpdateElement, t.null])) });
    expect(decode(codec, { list: [null, { update: wire }] }).list[0]).toBeNull();
    expect(problemsIn(codec, { list: [{ update: broken }] })).toContain(
      `list.0.0.update.Transaction.value.offset: ${offset}`,
    );
  });
});
