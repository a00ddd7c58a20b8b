import type * as t from 'io-ts';
import { readFileSync } from 'node:fs';
import { parseArgs, type ParseArgsConfig, types } from 'node:util';
import { acsDelta, ledgerEffects } from '../codecs/formats.js';
import { Party, TemplateId } from '../codecs/scalars.js';
import type { Update } from '../codecs/Update.js';
import type { UpdateFormat } from '../codecs/UpdateFormat.js';
import type { World } from './World.js';

/** Which ledger, and how to be let in. */
export interface Connection {
  /** The address of its JSON Ledger API. */
  readonly ledger: string;
  /** Provides the token of a request; throws where there is none. Absent: no token is sent. */
  readonly token: (() => string) | undefined;
}

const variants: readonly Update['_tag'][] = [
  'Transaction',
  'Reassignment',
  'TopologyTransaction',
  'OffsetCheckpoint',
  'UnknownUpdate',
];

/** Which updates, and what of them. */
export interface Selection {
  /** What the ledger is asked for. */
  readonly format: UpdateFormat;
  /** Of what it sends, only these; none for all. */
  readonly variants: readonly Update['_tag'][];
  /** Of what it sends, only updates of these; none for all. */
  readonly synchronizers: readonly string[];
}

/** The arguments make no sense; the message says which, in one line, and never holds a secret. */
export class UsageError extends Error {
  /** The class's name. */
  override readonly name = 'UsageError' as const;
}

type Options = NonNullable<ParseArgsConfig['options']>;

/** The values of options. */
type Values<O extends Options> = ReturnType<
  typeof parseArgs<{ args: string[]; options: O; strict: true; allowPositionals: false }>
>['values'];

/** The options among arguments; throws a {@link UsageError} of one line where there is anything else. */
export function parsed<const O extends Options>(args: readonly string[], options: O): Values<O> {
  try {
    return parseArgs({ args: [...args], options, strict: true, allowPositionals: false }).values;
  } catch (error) {
    throw new UsageError(reasonOf(error));
  }
}

const noToken = 'there is no --token, which anybody could read: use --token-file or CANTON_RX_LEDGER_TOKEN';

/** The first sentence: what follows is advice on positional arguments, of which there are none. */
function reasonOf(error: unknown): string {
  const [reason = ''] = types.isNativeError(error) ? error.message.split(/\. |\n/) : [];
  if (reason.startsWith("Unknown option '--token'")) return noToken;
  const option = /^Option '(?:-\w, )?(--[\w-]+).*(?:ambiguous\.?|missing)$/.exec(reason)?.[1];
  if (option !== undefined) return `${option} lacks its value; one that begins with a dash is written ${option}=-…`;
  return `${reason.charAt(0).toLowerCase()}${reason.slice(1).replace(/\.$/, '')}`;
}

/** One of the values that an option may have. */
export function readOneOf<A extends string>(option: string, text: string, allowed: readonly A[]): A {
  const found = allowed.find((value) => value === text);
  if (found === undefined) throw new UsageError(`--${option} is one of ${allowed.join(', ')}, not '${text}'`);
  return found;
}

/** A whole number that an option has, or its default. */
export function readWhole(option: string, text: string | undefined, fallback: number, most = Number.MAX_SAFE_INTEGER) {
  if (text === undefined) return fallback;
  const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (number <= most) return number;
  throw new UsageError(`--${option} is a whole number from 0 to ${most}, not '${text}'`);
}

/** Tokens of the usual form: JSON Web Tokens begin so, and hardly anything else does. */
const tokens = /\beyJ[\w-]{8,}(?:\.[\w-]*)*/g;

/** A message that quotes arguments, without the tokens that somebody has put in the wrong place. */
export const withoutTokens = (message: string): string => message.replaceAll(tokens, '(a token)');

/** The options of every command that talks to a ledger. */
export const connectionOptions = {
  ledger: { type: 'string' },
  'token-file': { type: 'string' },
} as const;

/** The ledger that the arguments or the environment name. Throws a `UsageError`. */
export const readConnection = (values: Values<typeof connectionOptions>, env: World['env']): Connection => ({
  ledger: readUrl(values.ledger ?? env['CANTON_RX_LEDGER_URL']),
  token: tokenFrom(values['token-file'], env['CANTON_RX_LEDGER_TOKEN']),
});

/** The address of a ledger. What is no address is not repeated: it may be a secret in the wrong place. */
function readUrl(text: string | undefined): string {
  if (text === undefined || text === '')
    throw new UsageError('no ledger: give --ledger URL or set CANTON_RX_LEDGER_URL');
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw new UsageError('the ledger is an http or https URL, such as http://127.0.0.1:7575');
  }
  if (url.username !== '' || url.password !== '')
    throw new UsageError('the ledger is a URL without a user or a password');
  // a path is added to it
  const { href } = url;
  if (/[@?#]/.test(href)) throw new UsageError('the ledger is a URL without a query, a hash or an @');
  return href;
}

/**
 * What provides the token: a file, read anew for every request because tokens are replaced while a feed goes on; or the
 * environment. Throws a {@link UsageError} where there is no token now, so that nobody waits for one that never comes.
 */
function tokenFrom(file: string | undefined, value: string | undefined): (() => string) | undefined {
  const provider = file === undefined ? fromValue(value) : () => checked(readFileSync(file, 'utf8'), file);
  try {
    provider?.();
    return provider;
  } catch (error) {
    throw new UsageError(reasonOfTokenFrom(error));
  }
}

const fromValue = (value: string | undefined): (() => string) | undefined =>
  value === undefined || value === '' ? undefined : () => checked(value, 'CANTON_RX_LEDGER_TOKEN');

/** A token goes into a header: another character would be an error there, and one that shows it. */
function checked(text: string, source: string): string {
  const token = text.trim();
  if (/^bearer\s/i.test(token)) throw new Error(`${source} is not a token alone: leave out "Bearer "`);
  if (!/^[\x21-\x7e]+$/.test(token)) throw new Error(`${source} has no token in it`);
  return token;
}

/** Of the system's words, those before the name of the file: whoever mixes up the options gives the token for it. */
function reasonOfTokenFrom(error: unknown): string {
  if (!types.isNativeError(error)) return 'there is no token';
  const [reason = ''] = error.message.split(', ');
  return 'syscall' in error ? `the file that --token-file names cannot be read: ${reason}` : error.message;
}

/** The options of every command that reads updates. */
export const selectionOptions = {
  party: { type: 'string', multiple: true },
  template: { type: 'string', multiple: true },
  effects: { type: 'boolean' },
  variant: { type: 'string', multiple: true },
  synchronizer: { type: 'string', multiple: true },
} as const;

/** The parties that `--party` names; any, where there is none. Throws a `UsageError`. */
export function readParties(texts: readonly string[] | undefined): readonly Party[] | 'any' {
  const parties = readMatching('party', texts, Party, 'a party id, hint::fingerprint');
  return parties.length > 0 ? parties : 'any';
}

/** The updates that the arguments ask for. Throws a `UsageError`. */
export function readSelection(values: Values<typeof selectionOptions>): Selection {
  const parties = readParties(values.party);
  const templates = readMatching('template', values.template, TemplateId, "a template, '#package-name:Module:Entity'");
  const chosen = (values.variant ?? []).map((text) => readOneOf('variant', text, variants));
  const format = values.effects === true ? ledgerEffects : acsDelta;
  return { format: format({ parties, templates }), variants: chosen, synchronizers: values.synchronizer ?? [] };
}

/** Values that are as the ledger wants them; `expected` tells how. */
function readMatching<A>(
  option: string,
  texts: readonly string[] | undefined,
  codec: t.Type<A, A>,
  expected: string,
): readonly A[] {
  return (texts ?? []).map((text) => {
    const result = codec.decode(text);
    if (result._tag === 'Right') return result.right;
    throw new UsageError(`--${option} is ${expected}, not '${text}'`);
  });
}
