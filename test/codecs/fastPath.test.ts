import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import * as t from 'io-ts';
import { CreatedEvent } from '../../src/codecs/Event.js';
import { Transaction } from '../../src/codecs/Transaction.js';
import { Update, UpdateElement } from '../../src/codecs/Update.js';
import { updateArbitrary } from '../helpers/arbitraries/index.js';
import { decoded, entries, fixture, overTheWire, problems } from './support.js';

const names = ['updates-3.3', 'updates-3.4', 'updates-3.5', 'updates-3.6', 'updates-of-a-newer-ledger'];
const samples = names.flatMap((name): readonly unknown[] => {
  const { wire } = fixture(name) as { readonly wire: readonly unknown[] };
  return wire;
});

type Path = readonly (string | number)[];

/** Where anything stands in a JSON value. */
const pathsOf = (json: unknown, path: Path = []): readonly Path[] =>
  typeof json === 'object' && json !== null
    ? [
        path,
        ...Object.entries(json).flatMap(([key, content]) =>
          pathsOf(content, [...path, Array.isArray(json) ? Number(key) : key]),
        ),
      ]
    : [path];

/** A copy with another value at a path; `undefined` takes it out. */
function changed(json: unknown, [key, ...rest]: Path, value: unknown): unknown {
  if (key === undefined) return value;
  const copy: unknown[] | Record<string, unknown> = Array.isArray(json)
    ? [...(json as unknown[])]
    : { ...(json as object) };
  const object = copy as Record<string | number, unknown>;
  object[key] = changed(object[key], rest, value);
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
const mutated: fc.Arbitrary<unknown> = fc
  .constantFrom(...samples)
  .chain((wire) =>
    fc
      .array(fc.tuple(fc.constantFrom(...pathsOf(wire)), fc.constantFrom(...values)), { maxLength: 3 })
      // the longest first: what is within a value goes before the value
      .map((changes) =>
        [...changes]
          .sort(([one], [other]) => other.length - one.length)
          .reduce((at, [path, value]) => changed(at, path, value), wire),
      ),
  )
  .map((json) => (json === undefined ? undefined : overTheWire(json)));

/** Freezes a value through and through. */
function frozen<A>(value: A): A {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(frozen);
  return value;
}

type Kind = 'text' | 'whole' | 'offset' | 'time' | 'flag' | 'json' | 'texts' | ((u: unknown) => boolean);
type Fields = Readonly<Record<string, Kind>>;

const isRecord = (u: unknown): u is Record<string, unknown> => typeof u === 'object' && u !== null && !Array.isArray(u);
const isAbsent = (u: unknown): boolean => u === undefined || u === null;
const time = /^[+-]?\d{4,9}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?Z$/;

/** Whether a value is right, said once more in the plainest way. */
function isRight(kind: Kind, u: unknown): boolean {
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
    Object.entries(required).every(([key, kind]) => isRight(kind, u[key])) &&
    Object.entries(optional).every(([key, kind]) => isAbsent(u[key]) || isRight(kind, u[key]));

const many =
  (kind: Kind): Kind =>
  (u) =>
    isAbsent(u) || (Array.isArray(u) && u.every((item) => isRight(kind, item)));

const ofAll: Fields = {
  offset: 'offset',
  nodeId: 'whole',
  contractId: 'text',
  templateId: 'text',
  packageName: 'text',
};
const created = object(
  {
    ...ofAll,
    createdAt: 'time',
    witnessParties: 'texts',
    signatories: 'texts',
    observers: 'texts',
    interfaceViews: many(
      object(
        { interfaceId: 'text', viewStatus: object({ code: 'whole' }, { message: 'text' }) },
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
  ...ofAll,
  witnessParties: 'texts',
  implementedInterfaces: 'texts',
});
const exercised = object(
  {
    ...ofAll,
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
/** Of a kind that nobody knows, but with an offset. */
const placed: Kind = (u) =>
  isRecord(u) && [u['offset'], isRecord(u['value']) && u['value']['offset']].some((at) => isRight('offset', at));
const event: Kind = (u) => {
  const [entry, ...more] = isRecord(u) ? Object.entries(u) : [];
  return entry !== undefined && more.length === 0 && isRight(events.get(entry[0]) ?? placed, entry[1]);
};
const trace = object({}, { traceparent: 'text', tracestate: 'text' });
const transaction = object(
  {
    updateId: 'text',
    effectiveAt: 'time',
    events: many(event),
    offset: 'offset',
    synchronizerId: 'text',
    recordTime: 'time',
  },
  {
    commandId: 'text',
    workflowId: 'text',
    traceContext: trace,
    externalTransactionHash: 'text',
    paidTrafficCost: 'whole',
    transactionHash: 'text',
  },
);

const transactions = samples.filter((wire) => JSON.stringify(wire).startsWith('{"update":{"Transaction":'));

/** A value's optional fields that the wire may have as `null`. */
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
const daml = new Set(['contractKey', 'createArgument', 'choiceArgument', 'exerciseResult', 'viewValue']);

/** The keys of known fields that hold nothing; not within what is kept as it came. */
function emptyIn(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(emptyIn);
  if (!isRecord(value) || String(value['_tag']).startsWith('Unknown')) return [];
  return Object.entries(value).flatMap(([key, content]) => {
    if (content === undefined || (content === null && optional.includes(key))) return [key];
    return daml.has(key) ? [] : emptyIn(content);
  });
}

describe('decoding', () => {
  it('tells right from wrong as the plainest reading does', () => {
    let right = 0;
    fc.assert(
      fc.property(
        mutated.filter((json) => isRecord(json) && isRecord(json['update']) && 'Transaction' in json['update']),
        (json) => {
          const reference = object({ update: object({ Transaction: object({ value: transaction }) }) });
          const found = problems(UpdateElement, json);
          expect(found.length === 0).toBe(isRight(reference, json));
          right += Number(found.length === 0);
        },
      ),
      { numRuns: 1500 },
    );
    expect(right).toBeGreaterThan(50);
    expect(transactions.length).toBeGreaterThan(2);
  });

  it('changes nothing of what it is given', () => {
    fc.assert(
      fc.property(mutated, (json) => {
        const before = JSON.stringify(json);
        UpdateElement.decode(frozen(json));
        expect(JSON.stringify(json)).toBe(before);
      }),
      { numRuns: 1000 },
    );
  });

  it('leaves an absent field out', () => {
    fc.assert(
      fc.property(mutated, (json) => {
        const result = UpdateElement.decode(json);
        if (result._tag === 'Right') expect(emptyIn(result.right)).toEqual([]);
      }),
      { numRuns: 1000 },
    );
  });

  it('gives what is encoded again, whatever the order of the fields and whatever came before', () => {
    fc.assert(
      fc.property(fc.array(updateArbitrary, { minLength: 2, maxLength: 4 }), fc.boolean(), (updates, isReversed) => {
        for (const update of updates) {
          const wire = overTheWire(UpdateElement.encode(update));
          expect(entries(decoded(UpdateElement, isReversed ? reversed(wire) : wire))).toStrictEqual(entries(update));
        }
      }),
    );
  });

  it('keeps __proto__ as a field like any other, and every prototype', () => {
    const text = JSON.stringify(transactions[0])
      .replaceAll('{"offset":', '{"__proto__":{"polluted":[1]},"offset":')
      .replace('"updateId":', '"__proto__":null,"updateId":');
    const update = decoded(UpdateElement, JSON.parse(text));
    expect(Object.getPrototypeOf(update)).toBe(Object.prototype);
    expect(Object.hasOwn(update, '__proto__')).toBe(true);
    expect(JSON.stringify(update)).toContain('"__proto__":{"polluted":[1]}');
    expect(Object.keys(Object.prototype)).toEqual([]);
  });

  it('does not mind a stranger on the prototype of all objects', () => {
    Object.defineProperty(Object.prototype, 'stranger', { value: 1, enumerable: true, configurable: true });
    try {
      for (const wire of samples) expect(UpdateElement.decode(wire)._tag).toBe('Right');
    } finally {
      Reflect.deleteProperty(Object.prototype, 'stranger');
    }
  });
});

/** The same with the fields of every object the other way round. */
function reversed(json: unknown): unknown {
  if (Array.isArray(json)) return json.map(reversed);
  if (!isRecord(json)) return json;
  return Object.fromEntries(
    Object.entries(json)
      .reverse()
      .map(([key, value]) => [key, reversed(value)]),
  );
}

describe('within codecs of io-ts', () => {
  const wire = (transactions[0] as { readonly update: { readonly Transaction: { readonly value: unknown } } }).update;
  const broken = changed(wire, ['Transaction', 'value', 'offset'], -1);
  const offset = 'expected Offset, a whole number from 0 to 2^53 - 1';
  const { value } = wire.Transaction;

  it('Update is a property', () => {
    const codec = t.type({ a: Update });
    expect(decoded(codec, { a: wire })).toStrictEqual({ a: decoded(Update, wire) });
    expect(problems(codec, { a: broken })).toEqual([`a.Transaction.value.offset: ${offset}`]);
    expect(problems(codec, {})).toEqual(['a: expected Update']);
  });

  it('Transaction is an item', () => {
    const codec = t.array(Transaction);
    expect(decoded(codec, [value, value])).toStrictEqual([decoded(Transaction, value), decoded(Transaction, value)]);
    expect(problems(codec, [value, { ...(value as object), offset: -1 }, 7])).toEqual([
      `1.offset: ${offset}`,
      '2: expected Transaction',
    ]);
  });

  it('CreatedEvent is one of several, and takes part in an intersection', () => {
    const codec = t.union([t.string, t.intersection([CreatedEvent, t.type({ mine: t.number })])]);
    const [event] = (value as { readonly events: readonly { readonly CreatedEvent: object }[] }).events;
    expect(decoded(codec, { ...event?.CreatedEvent, mine: 1 })).toMatchObject({ _tag: 'CreatedEvent', mine: 1 });
    expect(problems(codec, { ...event?.CreatedEvent, mine: '1', nodeId: '1' })).toEqual([
      '0: expected string',
      '1.0.nodeId: expected Int64, a whole number within 2^53 - 1',
      '1.1.mine: expected number',
    ]);
  });

  it('UpdateElement is an item that may be null', () => {
    const codec = t.type({ list: t.readonlyArray(t.union([UpdateElement, t.null])) });
    expect(decoded(codec, { list: [null, { update: wire }] }).list[0]).toBeNull();
    expect(problems(codec, { list: [{ update: broken }] })).toContain(
      `list.0.0.update.Transaction.value.offset: ${offset}`,
    );
  });
});
