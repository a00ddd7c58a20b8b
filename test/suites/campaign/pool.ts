import fc from 'fast-check';
import { type Update, UpdateElement } from '../../../src/codecs/Update.js';
import {
  reassignmentArbitrary,
  topologyTransactionArbitrary,
  transactionArbitrary,
  unknownUpdateArbitrary,
} from '../../helpers/arbitraries/index.js';

/** An update as the service sends it, and as the feed must emit it. */
export interface Sample {
  readonly element: object;
  readonly update: Update;
}

const each = 24;

// made once: what varies in a campaign is when they come, not what is in them
const samples: readonly Update[] = [
  ...fc.sample(transactionArbitrary, { numRuns: each, seed: 1 }),
  ...fc.sample(reassignmentArbitrary, { numRuns: each, seed: 2 }),
  ...fc.sample(topologyTransactionArbitrary, { numRuns: each, seed: 3 }),
  ...fc.sample(unknownUpdateArbitrary, { numRuns: each, seed: 4 }),
].map((update) => decoded(JSON.parse(JSON.stringify(UpdateElement.encode(update)))));

/** How many different updates there are. */
export const poolSize = samples.length;

/** An update of the pool at an offset. Its content tells which it is, and where it stands. */
export function sampleAt(number: number, offset: number): Sample {
  const update = samples[number % poolSize];
  if (update === undefined) throw new RangeError('no such sample');
  const moved = movedTo(update, offset);
  const element = UpdateElement.encode(moved);
  if (typeof element !== 'object' || element === null) throw new TypeError('no element');
  return { element, update: moved };
}

function movedTo(update: Update, offset: number): Update {
  if (update._tag !== 'UnknownUpdate') return { ...update, offset };
  const { value } = update;
  if (!isRecord(value)) throw new TypeError('no offset');
  if (!isRecord(value['value'])) return { ...update, offset, value: { ...value, offset } };
  const inner = value['value'];
  const isWrapped = 'offset' in inner;
  return { ...update, offset, value: isWrapped ? { value: { ...inner, offset } } : { ...value, offset } };
}

function decoded(element: unknown): Update {
  const result = UpdateElement.decode(element);
  if (result._tag === 'Left') throw new TypeError('a sample does not decode');
  return result.right;
}

const isRecord = (u: unknown): u is Readonly<Record<string, unknown>> => typeof u === 'object' && u !== null;
