import { parseArgs, types, type ParseArgsConfig } from 'node:util';
import { UsageError } from './UsageError.js';

type Options = NonNullable<ParseArgsConfig['options']>;

/** The values of options. */
export type Values<O extends Options> = ReturnType<
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

/** The first sentence: what follows is advice on positional arguments, of which there are none. */
function reasonOf(error: unknown): string {
  const [reason = ''] = types.isNativeError(error) ? error.message.split(/\. |\n/) : [];
  if (reason.startsWith("Unknown option '--token'")) return noToken;
  const option = /^Option '(?:-\w, )?(--[\w-]+).*(?:ambiguous\.?|missing)$/.exec(reason)?.[1];
  if (option !== undefined) return `${option} lacks its value; one that begins with a dash is written ${option}=-…`;
  return `${reason.charAt(0).toLowerCase()}${reason.slice(1).replace(/\.$/, '')}`;
}

const noToken = 'there is no --token, which anybody could read: use --token-file or CANTON_RX_LEDGER_TOKEN';
