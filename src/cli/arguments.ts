import { parseArgs, types } from 'node:util';
import { type Options, optionsOf, type Values } from './options.js';
import { quoteArgument } from './shell.js';

/** Bad arguments. The message names them in one line and never contains a secret. */
export class UsageError extends Error {
  /** The class's name. */
  override readonly name = 'UsageError' as const;
}

/** Parses arguments that are options only; throws a {@link UsageError} of one line for anything else. */
export function parseOptions<O extends Options>(args: readonly string[], options: O): Values<O> {
  const declared = optionsOf(options);
  const config = declared.map(({ name, short, value, isRepeatable: multiple }) => {
    const type = value === undefined ? 'boolean' : 'string';
    return [name, { type, multiple, ...(short !== undefined && { short }) }] as const;
  });
  try {
    const { values } = parseArgs({ args: [...args], options: Object.fromEntries(config), strict: true });
    return values as Values<O>;
  } catch (error) {
    const names = declared.map(({ name }) => name);
    throw new UsageError(parseErrorMessage(types.isNativeError(error) ? error.message : '', names, args));
  }
}

/** Replaces a message of Node.js, which has advice about positional arguments that no command takes. */
function parseErrorMessage(message: string, options: readonly string[], args: readonly string[]): string {
  const unknown = /^Unknown option '(-[^']*)'/.exec(message)?.[1];
  if (unknown === '--token' && options.includes('token-file')) {
    const variable = options.includes('ledger') ? 'CANTON_RX_LEDGER_TOKEN' : 'CANTON_RX_SANDBOX_TOKEN';
    return `there is no option --token, because other users can see arguments: use --token-file or ${variable}`;
  }
  if (unknown !== undefined) return unknownOptionMessage(unknown, options);
  const positional = /^Unexpected argument '(.*)'\. This command does not take/s.exec(message)?.[1];
  if (positional !== undefined) return positionalMessage(positional, options);
  const option = /^Option '(?:-\w, )?(--[\w-]+).*(?:ambiguous\.?|missing)$/m.exec(message)?.[1];
  if (option !== undefined) {
    const negative = args.find((text, index) => /^-\d+$/.test(text) && args[index - 1]?.startsWith('-') === true);
    return negative === undefined
      ? `${option} requires a value; write ${option}=-… if it starts with a dash`
      : `${option} must be an integer from 0, got '${negative}'`;
  }
  // before the split: a secret may have a full stop
  const [sentence = ''] = redactSecrets(message).split(/\. |\n/);
  return `${sentence.charAt(0).toLowerCase()}${sentence.slice(1).replace(/\.$/, '')}`;
}

/** Options that other programs have, and what they are called here. */
const otherNames: Readonly<Partial<Record<string, string>>> = {
  url: 'ledger',
  host: 'ledger',
  offset: 'from',
  from: 'at',
  to: 'at',
  file: 'out',
  output: 'out',
  parties: 'party',
  party: 'act-as',
  db: 'database',
};

function unknownOptionMessage(unknown: string, options: readonly string[]): string {
  const name = unknown.replace(/^-+/, '');
  const other = otherNames[name];
  const similar = other !== undefined && options.includes(other) ? other : suggest(name, options);
  if (similar !== undefined) return `unknown option '${unknown}': did you mean --${similar}?`;
  return `unknown option '${unknown}': use ${[...options, 'help'].map((option) => `--${option}`).join(', ')}`;
}

function positionalMessage(text: string, options: readonly string[]): string {
  const url = options.includes('ledger') ? ledgerUrlOf(text) : undefined;
  if (url !== undefined) return `unexpected argument '${text}': did you mean --ledger ${quoteArgument(url)}?`;
  // such a URL may have a secret anywhere
  if (options.includes('ledger') && /^https?:/.test(text)) return 'unexpected argument, a URL: did you mean --ledger?';
  if (options.includes('database') && /^postgres(?:ql)?:/.test(text))
    return `unexpected argument '${text}': did you mean --database?`;
  return `unexpected argument '${text}'`;
}

/** The URL of a ledger in an argument that is one, with or without `http://`; `undefined` for any other text. */
export function ledgerUrlOf(text: string): string | undefined {
  const url = /^[\w.-]+:\d{1,5}$/.test(text) ? `http://${text}` : text;
  return /^https?:\/\/[^\s@?#]+$/.test(url) && URL.canParse(url) ? url : undefined;
}

/** Whether to print rows for people rather than JSON for programs, and to use WebSockets. Throws a {@link UsageError}. */
export function readForm(
  {
    json = false,
    pretty = false,
    websocket = false,
  }: Readonly<Partial<Record<'json' | 'pretty' | 'websocket', boolean>>>,
  { isTTY = false }: { readonly isTTY?: boolean },
): { readonly isPretty: boolean; readonly isPushed: boolean } {
  if (json && pretty) throw new UsageError('--json and --pretty exclude each other');
  return { isPretty: pretty || (!json && isTTY), isPushed: websocket };
}

/** Reads one of the values that an option allows. Throws a {@link UsageError}. */
export function readOneOf<A extends string>(option: string, text: string, allowed: readonly A[]): A {
  const value = allowed.find((one) => one === text);
  if (value !== undefined) return value;
  const similar = suggest(
    text.toLowerCase(),
    allowed.map((one) => one.toLowerCase()),
  );
  const hint = allowed.find((one) => one.toLowerCase() === similar);
  throw new UsageError(
    `--${option} must be one of ${allowed.join(', ')}, got '${text}'${hint === undefined ? '' : `: did you mean ${hint}?`}`,
  );
}

/** Reads a non-negative integer, or returns the default of the option. Throws a {@link UsageError}. */
export function readInteger<A extends number | undefined>(
  option: string,
  text: string | undefined,
  fallback: A,
  max = Number.MAX_SAFE_INTEGER,
): number | A {
  if (text === undefined) return fallback;
  const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (number <= max) return number;
  throw new UsageError(`--${option} must be an integer from 0 to ${max}, got '${text}'`);
}

/** Reads an offset, or `end` for the ledger end. Throws a {@link UsageError}. */
export const readOffset = (option: string, text: string): number | 'end' =>
  text === 'end' ? text : readInteger(option, text, 0);

/** JSON Web Tokens start like this, and almost nothing else does. */
const tokens = /\beyJ[\w-]{8,}(?:\.[\w-]*)*/g;

/** The password of a URL. User and password may themselves contain the `@` that ends them. */
const urlPasswords = /(\/\/[^\s:/]*):.*@/gs;

const passwordParameters = /\b(password=)[^\s&]*/gi;

/** Removes tokens and passwords from a message that quotes arguments: users put them in the wrong option. */
export const redactSecrets = (message: string): string =>
  message
    .replaceAll(tokens, '(a token)')
    .replaceAll(urlPasswords, '$1:(password)@')
    .replaceAll(passwordParameters, '$1(password)');

/** The candidate that is most similar to a mistyped text, or starts with it; `undefined` if none is similar. */
export function suggest(text: string, candidates: readonly string[]): string | undefined {
  const maxDistance = text.length < 4 ? 1 : 2;
  const [best] = candidates
    .map((candidate) => ({ candidate, distance: distanceOf(text, candidate) }))
    .filter(({ distance }) => distance <= maxDistance)
    .sort((a, b) => a.distance - b.distance);
  return best?.candidate ?? candidates.find((candidate) => text.length > 1 && candidate.startsWith(text));
}

/** How many characters must be inserted, removed, replaced or swapped with the next one to turn one text into another. */
function distanceOf(a: string, b: string): number {
  const rows: number[][] = [];
  const at = (i: number, j: number): number => rows[i]?.[j] ?? Infinity;
  for (let i = 0; i <= a.length; i += 1) {
    const row: number[] = [];
    rows.push(row);
    for (let j = 0; j <= b.length; j += 1) {
      const replaced = at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwapped ? at(i - 2, j - 2) + 1 : Infinity;
      row.push(i === 0 && j === 0 ? 0 : Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, replaced, swapped));
    }
  }
  return at(a.length, b.length);
}
