import type { Problem } from './Problem.js';

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
}

/** What a validation results in: the value that the schema returned, or problems without values. */
type Validated =
  | { readonly value: unknown; readonly problems?: undefined }
  | { readonly problems: readonly Problem[]; readonly value?: undefined };

/**
 * Returns a function that validates values at once, because a feed cannot wait for a schema without losing its order.
 *
 * @throws TypeError if the schema says that it is asynchronous, as those of Valibot do. Others are noticed when they
 *   validate
 */
export function validatorOf(schema: StandardSchema): (value: unknown) => Validated {
  if ('async' in schema && schema.async === true) throw new TypeError(`${isAsynchronous}: use a synchronous one`);
  return (value) => {
    const result = schema['~standard'].validate(value);
    if ('then' in result) {
      // it may reject, which would end the process
      result.catch(() => undefined);
      return { problems: [{ path: '', expected: `a result at once: ${isAsynchronous}, or a transform in it throws` }] };
    }
    return result.issues === undefined ? { value: result.value } : { problems: result.issues.map(problemOf) };
  };
}

const isAsynchronous = 'the schema is asynchronous';

/** Zod, Valibot and ArkType also say what they expect without a sentence. Either text may quote the value. */
const problemOf = ({ message, path = [], expected }: Issue & { readonly expected?: unknown }): Problem => ({
  path: path.map((part) => String(typeof part === 'object' ? part.key : part)).join('.'),
  expected: withoutValue(typeof expected === 'string' ? expected : message),
});

/** What a text says of the schema, as in `Invalid email: Received "…"` or `mail must be an email address (was "…")`. */
const withoutValue = (text: string): string =>
  text
    .replace(/[,;:]?\s*(\sbut\s+|[\s(])(received|was|got)[\s:].*/is, '')
    .replace(/^.*?\b(expected|must be) /i, '')
    .replace(/^invalid /i, 'a valid ');
