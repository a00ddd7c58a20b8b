import { readFileSync } from 'node:fs';
import { type Command, ledgerCommands } from './ledgerCommands.js';
import { optionsOf } from './options.js';
import { wrap } from './terminal.js';
import { toolCommands } from './toolCommands.js';

/** All commands by name. */
export const commands: Readonly<Record<string, Command>> = { ...ledgerCommands, ...toolCommands };

/** The options without a command. */
export const mainOptions = {
  '-h, --help': 'Print this help, or that of a command: canton-rx tail --help',
  '-v, --version': 'Print the version',
};

/**
 * The text for arguments that only need a text: the help of the program or of a command, or the version. `undefined` for any
 * other arguments. Loads nothing of the library, so that such a text appears immediately.
 */
export function infoFor([first, ...args]: readonly string[]): string | undefined {
  if (first === '--version' || first === '-v' || first === '-V') return `${version()}\n`;
  if (first === 'help' || first === '--help' || first === '-h') return helpOf(args[0]) ?? mainHelp();
  return args.includes('--help') || args.includes('-h') ? helpOf(first) : undefined;
}

/** The version in the package.json of this package, two folders above both `src/cli` and `dist/cli`. */
export function version(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { readonly version: string }).version;
}

const mainHelp =
  (): string => `canton-rx: read the ledger of a Canton participant from the command line, and submit to it

Usage: canton-rx COMMAND [OPTIONS]

${table(Object.entries(commands).map(([name, { summary }]) => [name, summary]))}

${table(Object.entries(mainOptions))}

Examples:
  canton-rx sandbox --updates 300 --rate 5
  canton-rx check --ledger http://127.0.0.1:7575
  canton-rx tail --ledger http://127.0.0.1:7575 --from end

Terminals get colours: NO_COLOR=1 turns them off, FORCE_COLOR=1 turns them on in a pipe, too.
`;

function helpOf(name = ''): string | undefined {
  if (!Object.hasOwn(commands, name)) return undefined;
  const { summary = '', usage = [], options = {}, text = '' } = commands[name] ?? {};
  const rows = optionsOf(options).map(({ name: long, short, value, text: meaning }): Row => {
    const form = `${short === undefined ? '' : `-${short}, `}--${long}${value === undefined ? '' : ` ${value}`}`;
    return [form, meaning];
  });
  return `canton-rx ${name}: ${summary.charAt(0).toLowerCase()}${summary.slice(1)}

Usage: ${usage.map((use) => `canton-rx ${name} ${use}`.trimEnd()).join('\n       ')}

${table([...rows, ['-h, --help', 'Print this help']])}

${text}
`;
}

type Row = readonly [term: string, meaning: string];

/** Two columns, of at most 96 characters together. */
function table(rows: readonly Row[]): string {
  const width = Math.max(...rows.map(([term]) => term.length)) + 2;
  return rows
    .map(([term, meaning]) => `  ${term.padEnd(width)}${wrap(meaning, 94 - width).join(`\n${' '.repeat(width + 2)}`)}`)
    .join('\n');
}
