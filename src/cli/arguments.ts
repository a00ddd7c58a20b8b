import type * as t from 'io-ts';
import { parseArgs, type ParseArgsConfig, types } from 'node:util';

/** Bad arguments. The message says which in one line, and never holds a secret. */
export class UsageError extends Error {
  /** The class's name. */
  override readonly name = 'UsageError' as const;
}

type Options = NonNullable<ParseArgsConfig['options']>;

/** The values of options. */
export type Values<O extends Options> = ReturnType<
  typeof parseArgs<{ args: string[]; options: O; strict: true; allowPositionals: false }>
>['values'];

/** Parses arguments that are options only; throws a {@link UsageError} of one line for anything else. */
export function parseOptions<const O extends Options>(args: readonly string[], options: O): Values<O> {
  try {
    return parseArgs({ args: [...args], options, strict: true, allowPositionals: false }).values;
  } catch (error) {
    throw new UsageError(parseErrorMessage(error));
  }
}

const noTokenOption =
  'there is no option --token, since other users can see arguments: use --token-file or CANTON_RX_LEDGER_TOKEN';

/** The first sentence of Node.js's message: the second one is advice about positional arguments, which no command has. */
function parseErrorMessage(error: unknown): string {
  // before the split: a secret may have a full stop
  const [message = ''] = types.isNativeError(error) ? redactSecrets(error.message).split(/\. |\n/) : [];
  if (message.startsWith("Unknown option '--token'")) return noTokenOption;
  const option = /^Option '(?:-\w, )?(--[\w-]+).*(?:ambiguous\.?|missing)$/.exec(message)?.[1];
  if (option !== undefined) return `${option} requires a value; write ${option}=-… if it starts with a dash`;
  return `${message.charAt(0).toLowerCase()}${message.slice(1).replace(/\.$/, '')}`;
}

/** Reads one of the values that an option allows. Throws a {@link UsageError}. */
export function readOneOf<A extends string>(option: string, text: string, allowed: readonly A[]): A {
  const value = allowed.find((one) => one === text);
  if (value === undefined) throw new UsageError(`--${option} must be one of ${allowed.join(', ')}, got '${text}'`);
  return value;
}

/** Reads a non-negative integer, or returns the default of the option. Throws a {@link UsageError}. */
export function readInteger(
  option: string,
  text: string | undefined,
  fallback: number,
  max = Number.MAX_SAFE_INTEGER,
): number {
  if (text === undefined) return fallback;
  const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (number <= max) return number;
  throw new UsageError(`--${option} must be an integer from 0 to ${max}, got '${text}'`);
}

/** Reads the values of a repeatable option by their codec; `expected` describes them. Throws a {@link UsageError}. */
export function readValues<A>(
  option: string,
  texts: readonly string[] | undefined,
  codec: t.Type<A, A>,
  expected: string,
): readonly A[] {
  return (texts ?? []).map((text) => {
    const result = codec.decode(text);
    if (result._tag === 'Right') return result.right;
    throw new UsageError(`--${option} must be ${expected}, got '${text}'`);
  });
}

/** JSON Web Tokens start like this, and hardly anything else does. */
const tokens = /\beyJ[\w-]{8,}(?:\.[\w-]*)*/g;

/** The password of a URL. User and password may themselves have the `@` that ends them. */
const urlPasswords = /(\/\/[^\s:/]*):.*@/gs;

const passwordParameters = /\b(password=)[^\s&]*/gi;

/** Removes tokens and passwords from a message that quotes arguments: they may be in the wrong place. */
export const redactSecrets = (message: string): string =>
  message
    .replaceAll(tokens, '(a token)')
    .replaceAll(urlPasswords, '$1:(password)@')
    .replaceAll(passwordParameters, '$1(password)');
