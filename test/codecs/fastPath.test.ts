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

type Kind = 'text' | 'whole' | 'offset' | 'time' | 'flag' | 'json' | 'texts' | ((u: unknown) => boolean);
type Fields = Readonly<Record<string, Kind>>;

const isRecord = (u: unknown): u is Record<string, unknown> => typeof u === 'object' && u !== null && !Array.isArray(u);
const isAbsent = (u: unknown): boolean => u === undefined || u === null;
const time = /^[+-]?\d{4,9}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?Z$/;

/** Whether a value is valid, by a second and simpler implementation. */
function isValid(kind: Kind, u: unknown): boolean {
  if (typeof kind === 'function') return kind(u);
  if (kind === 'text') return typeof u === 'string';
  if (kind === 'time') return typeof u === 'string' && time.test(u);
  if (kind === 'flag') return typeof u === 'boolean';
  if (kind === 'texts') return isAbsent(u) || (Array.isArray(u) && u.every((item) => typeof item === 'string'));
  if (kind === 'json') return u !== undefined;
  return Number.isSafeInteger(u) && (kind === 'whole' || Number(u) >= 0);
}

const object =
  (required: Fields, optional: Fields = {}): Kind =>
  (u) =>
    isRecord(u) &&
    Object.entries(required).every(([key, kind]) => isValid(kind, u[key])) &&
    Object.entries(optional).every(([key, kind]) => isAbsent(u[key]) || isValid(kind, u[key]));

const listOf =
  (kind: Kind): Kind =>
  (u) =>
    isAbsent(u) || (Array.isArray(u) && u.every((item) => isValid(kind, item)));

const commonFields: Fields = {
  offset: 'offset',
  nodeId: 'whole',
  contractId: 'text',
  templateId: 'text',
  packageName: 'text',
};
const created = object(
  {
    ...commonFields,
    createdAt: 'time',
    witnessParties: 'texts',
    signatories: 'texts',
    observers: 'texts',
    interfaceViews: listOf(
      object(
        {
          interfaceId: 'text',
          viewStatus: object(
            { code: 'whole' },
            {
              message: 'text',
              details: listOf(
                object({}, { typeUrl: 'text', value: 'text', valueDecoded: 'json', unknownFields: 'json' }),
              ),
            },
          ),
        },
        { viewValue: 'json', implementationPackageId: 'text' },
      ),
    ),
  },
  {
    contractKey: 'json',
    contractKeyHash: 'text',
    createArgument: 'json',
    createdEventBlob: 'text',
    representativePackageId: 'text',
    acsDelta: 'flag',
  },
);
const archived = object({
  ...commonFields,
  witnessParties: 'texts',
  implementedInterfaces: 'texts',
});
const exercised = object(
  {
    ...commonFields,
    choice: 'text',
    actingParties: 'texts',
    consuming: 'flag',
    witnessParties: 'texts',
    lastDescendantNodeId: 'whole',
    implementedInterfaces: 'texts',
  },
  { interfaceId: 'text', choiceArgument: 'json', exerciseResult: 'json', acsDelta: 'flag' },
);
const events = new Map(Object.entries({ CreatedEvent: created, ArchivedEvent: archived, ExercisedEvent: exercised }));
/** An event of an unknown kind, with an offset. */
const hasOffset: Kind = (u) =>
  isRecord(u) && [u['offset'], isRecord(u['value']) && u['value']['offset']].some((at) => isValid('offset', at));
const event: Kind = (u) => {
  const [entry, ...more] = isRecord(u) ? Object.entries(u) : [];
  return entry !== undefined && more.length === 0 && isValid(events.get(entry[0]) ?? hasOffset, entry[1]);
};
const traceContext = object({}, { traceparent: 'text', tracestate: 'text' });
const transaction = object(
  {
    updateId: 'text',
    effectiveAt: 'time',
    events: (u) => !isAbsent(u) && isValid(listOf(event), u),
    offset: 'offset',
    synchronizerId: 'text',
    recordTime: 'time',
  },
  {
    commandId: 'text',
    workflowId: 'text',
    traceContext: traceContext,
    externalTransactionHash: 'text',
    paidTrafficCost: 'whole',
    transactionHash: 'text',
  },
);

const transactions = samples.filter((wire) => JSON.stringify(wire).startsWith('{"update":{"Transaction":'));

/** The optional fields, which may be `null` on the wire. */
const optional = [
  'contractKey',
  'contractKeyHash',
  'createArgument',
  'createdEventBlob',
  'representativePackageId',
  'acsDelta',
  'commandId',
  'workflowId',
  'traceContext',
  'externalTransactionHash',
  'paidTrafficCost',
  'transactionHash',
  'tracestate',
  'submitter',
  'assignmentExclusivity',
  'interfaceId',
  'exerciseResult',
  'choiceArgument',
];
const damlFields = new Set(['contractKey', 'createArgument', 'choiceArgument', 'exerciseResult', 'viewValue']);

/** The keys of known fields without a value, except within undecoded parts. */
function emptyFieldsOf(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(emptyFieldsOf);
  if (!isRecord(value) || String(value['_tag']).startsWith('Unknown')) return [];
  return Object.entries(value).flatMap(([key, content]) => {
    if (content === undefined || (content === null && optional.includes(key))) return [key];
    return damlFields.has(key) ? [] : emptyFieldsOf(content);
  });
}

describe('decoding', () => {
  it('accepts the same values as the simple implementation', () => {
    const numRuns = effort(500, 1_500);
    let valid = 0;
    fc.assert(
      fc.property(
        mutationArbitrary.filter(
          (json) => isRecord(json) && isRecord(json['update']) && 'Transaction' in json['update'],
        ),
        (json) => {
          const reference = object({ update: object({ Transaction: object({ value: transaction }) }) });
          const found = problemsIn(UpdateElement, json);
          expect(found.length === 0).toBe(isValid(reference, json));
          valid += Number(found.length === 0);
        },
      ),
      { numRuns },
    );
    expect(valid).toBeGreaterThan(numRuns / 30);
    expect(transactions.length).toBeGreaterThan(2);
  });

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

  it('omits an absent field', () => {
    fc.assert(
      fc.property(mutationArbitrary, (json) => {
        const result = UpdateElement.decode(json);
        if (result._tag === 'Right') expect(emptyFieldsOf(result.right)).toEqual([]);
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

  it('keeps __proto__ as an ordinary field, and every prototype', () => {
    const text = JSON.stringify(transactions[0])
      .replaceAll('{"offset":', '{"__proto__":{"polluted":[1]},"offset":')
      .replace('"updateId":', '"__proto__":null,"updateId":');
    const update = decode(UpdateElement, JSON.parse(text));
    expect(Object.getPrototypeOf(update)).toBe(Object.prototype);
    expect(Object.hasOwn(update, '__proto__')).toBe(true);
    expect(JSON.stringify(update)).toContain('"__proto__":{"polluted":[1]}');
    expect(Object.keys(Object.prototype)).toEqual([]);
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
