import { maxProblems, type Problem, problemAt } from '../codecs/Problem.js';
import { InvalidRequestError } from '../errors/request.js';

/** Encodes a body. Throws an {@link InvalidRequestError} for what JSON or the ledger cannot represent. */
export function toJson(body: unknown): string {
  const json = stringify(body);
  const isDifferent = hasReplaced(body);
  const problems = [
    ...(unsendable.test(json) ? problemsWhere(JSON.parse(json), isUnsendable, sendableText) : []),
    ...(isDifferent ? problemsWhere(body, isReplaced, valueOfJson) : []),
  ];
  if (problems.length > 0) throw new InvalidRequestError(problems);
  return json;
}

/** Encodes a body like `JSON.stringify`. Throws an {@link InvalidRequestError} for a bigint, whose path it names, and for a cycle. */
export function stringify(body: unknown): string {
  try {
    return JSON.stringify(body);
  } catch {
    // the platform's own message quotes the value
    const problems = problemsWhere(body, (value) => typeof value === 'bigint', valueOfJson);
    throw new InvalidRequestError(problems.length > 0 ? problems : [{ path: '', expected: 'a JSON value' }]);
  }
}

/**
 * JSON of a text that the ledger would not store as it is: it refuses NUL, and commits a surrogate without its other half as
 * a question mark. An even number of backslashes before it are characters of the text.
 */
const unsendable = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/;

/** The places of invalid values. A key that is not the name of a field appears as `*`. */
function problemsWhere(body: unknown, isInvalid: (value: unknown) => boolean, expected: string): readonly Problem[] {
  const problems: Problem[] = [];
  const stack: (readonly [Place | undefined, unknown])[] = [[undefined, body]];
  // a cycle does not end
  const seen = new Set<object>();
  for (let next = stack.pop(); next !== undefined && problems.length < maxProblems; next = stack.pop()) {
    const [place, value] = next;
    if (isInvalid(value)) problems.push(problemAt(pathTo(place), expected));
    if (typeof value !== 'object' || value === null || hasOwnJson(value) || seen.has(value)) continue;
    seen.add(value);
    for (const [key, content] of entriesOf(value).reverse()) {
      const inner = { outer: place, key: /^\w+$/.test(key) ? key : '*' };
      stack.push([inner, content]);
      if (isInvalid(key)) stack.push([inner, key]);
    }
  }
  return problems;
}

/** Where a value is. A path for each would take the square of the depth, which others may choose. */
interface Place {
  readonly outer: Place | undefined;
  readonly key: string;
}

function pathTo(place: Place | undefined): readonly string[] {
  const keys: string[] = [];
  for (let next = place; next !== undefined; next = next.outer) keys.push(next.key);
  return keys.reverse();
}

/** The parts of a value. JSON has all elements of a list, also those without a value. */
const entriesOf = (value: object): [string, unknown][] =>
  Array.isArray(value)
    ? Array.from(value, (element: unknown, index) => [String(index), element === undefined ? absent : element])
    : Object.entries(value);

/** Stands for an element of a list that JSON cannot leave out. A field without a value is left out, and is `None`. */
const absent = Symbol('absent');

/** Whether JSON leaves a value out. A signal of Angular, and a method without its call, are functions. */
const isWithoutJson = (value: unknown): boolean => typeof value === 'function' || typeof value === 'symbol';

const isUnsendable = (value: unknown): boolean => typeof value === 'string' && /[\0\p{Surrogate}]/u.test(value);

const valueOfJson = 'a value that JSON has, too';

const sendableText = 'a text without NUL and without half of a surrogate pair';

/**
 * Whether JSON has another value in the place of this one. A number that is not finite, an invalid date and an absent element
 * become `null`, and a function is left out: Daml reads both as `None`. Maps, sets, promises and the like become empty objects.
 */
function isReplaced(value: unknown): boolean {
  if (typeof value !== 'object' || value === null)
    return isWithoutJson(value) || (typeof value === 'number' && !isFinite(value));
  if (hasOwnJson(value)) return value.toJSON() === null;
  return Object.keys(value).length === 0 && !withKeys.includes(Object.prototype.toString.call(value));
}

/** Whether JSON has another value in the place of one in a body. Most bodies have none: this is called for each request. */
const hasReplaced = (value: unknown): boolean =>
  isReplaced(value) ||
  (typeof value === 'object' &&
    value !== null &&
    !hasOwnJson(value) &&
    ((Array.isArray(value) && value.includes(undefined)) || Object.values(value).some(hasReplaced)));

/** The kinds of objects of which JSON has all. */
const withKeys: readonly string[] = ['Object', 'Array', 'Number', 'Boolean', 'String'].map(
  (kind) => `[object ${kind}]`,
);

/** Whether a value decides itself what JSON has in its place, as dates and decimals of libraries do. */
const hasOwnJson = (value: object): value is { readonly toJSON: () => unknown } =>
  'toJSON' in value && typeof value.toJSON === 'function';
