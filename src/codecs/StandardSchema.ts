import type { Attempt, Refusal } from './internal/explain.js';
import { quoteFilter } from './internal/quotes.js';
import { maxProblems, type Place, problemAt } from './Problem.js';

/**
 * A schema of any library that implements [Standard Schema](https://standardschema.dev) version 1, such as Zod, Valibot or
 * ArkType. Only the part that is used.
 *
 * @category Contract types
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  /** The properties of the standard. */
  readonly '~standard': {
    /** The version of the standard. */
    readonly version: 1;
    /** The name of the library. */
    readonly vendor: string;
    /** Checks and converts a value. */
    readonly validate: (value: unknown) => Validation<Output> | Promise<Validation<Output>>;
    /** The types of the value before and after, for the compiler only. */
    readonly types?:
      | {
          /** Before. */
          readonly input: Input;
          /** After. */
          readonly output: Output;
        }
      | undefined;
  };
}

/**
 * The result of a {@link StandardSchema}.
 *
 * @inline
 */
type Validation<Output> =
  | {
      /** The converted value. */
      readonly value: Output;
      /** None. */
      readonly issues?: undefined;
    }
  | {
      /** Why the schema refuses the value. */
      readonly issues: readonly Issue[];
    };

/**
 * Why a schema refuses a value.
 *
 * @inline
 */
interface Issue {
  /** The reason, often with the value. */
  readonly message: string;
  /** The keys from the outside in. Some libraries wrap them. */
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
  /** The expected value, if the library has it without a sentence. */
  readonly expected?: unknown;
  /** The issues of the alternatives of a union, in Zod. */
  readonly errors?: readonly (readonly Issue[])[];
  /** The same in Valibot. */
  readonly issues?: readonly Issue[];
}

/**
 * Returns a function that validates values synchronously, because a feed cannot wait for a schema without losing its order.
 *
 * @throws TypeError if the schema says that it is asynchronous, as those of Valibot do. Others are noticed when they
 *   validate
 */
export function validatorOf(schema: StandardSchema): (value: unknown) => Attempt {
  if ('async' in schema && schema.async === true) throw new TypeError(`${isAsynchronous}: use a synchronous one`);
  return (value) => {
    const result = schema['~standard'].validate(value);
    if ('then' in result) {
      // it may reject, which would end the process
      result.catch(() => undefined);
      const expected = `a synchronous result: ${isAsynchronous}, or a transform in it throws`;
      return { refusals: [{ problem: problemAt([], expected), places: [] }] };
    }
    return result.issues === undefined ? { value: result.value } : { refusals: refusalsOf(result.issues, value) };
  };
}

const isAsynchronous = 'the schema is asynchronous';

function refusalsOf(issues: readonly Issue[], value: unknown): readonly Refusal[] {
  const filter = quoteFilter(value);
  // not by a method of the list, which may be of a class of the library
  return Array.from({ length: Math.min(issues.length, maxProblems) }, (_, i) => issues[i])
    .filter((issue) => issue !== undefined)
    .map((issue) => {
      const keys = keysOf(issue);
      const own = keys.reduce<unknown>((at, key) => (Object(at) as Readonly<Record<string, unknown>>)[key], value);
      // Zod, Valibot and ArkType also say what they expect without a sentence
      const text = typeof issue.expected === 'string' ? issue.expected : issue.message;
      return { problem: problemAt(keys.map(shown), filter(text, own)), places: placesOf(issue, []) };
    });
}

const keysOf = ({ path = [] }: Issue): readonly string[] =>
  path.map((part) => String(typeof part === 'object' ? part.key : part));

/** A key that is not the name of a field is that of a map, and a value. */
const shown = (key: string): string => (/^[\w$']{1,100}$/.test(key) ? key : '*');

/** The places of an issue, and of its alternatives if it is that of a union: `errors` of Zod, `issues` of Valibot. */
function placesOf(issue: Issue, outer: readonly string[]): readonly Place[] {
  const { errors = [], issues = [] } = issue;
  const keys = [...outer, ...keysOf(issue)];
  const inner = [...errors.flat(), ...issues].slice(0, maxProblems);
  return [{ keys, path: keys.map(shown) }, ...inner.flatMap((each) => placesOf(each, keys))];
}
