import { readFileSync } from 'node:fs';
import { help } from './helpTexts.js';

/**
 * The text for arguments that only need a text: the help of the program or of a command, or the version. `undefined` for any
 * other arguments. Loads nothing of the library, so that such a text appears at once.
 */
export function infoFor([first, ...args]: readonly string[]): string | undefined {
  if (first === '--version' || first === '-v' || first === '-V') return `${version()}\n`;
  if (first === 'help' || first === '--help' || first === '-h') return helpOf(args[0]) ?? help.main;
  return args.includes('--help') || args.includes('-h') ? helpOf(first) : undefined;
}

const helpOf = (command: string | undefined): string | undefined =>
  Object.entries(help).find(([name]) => name === command && name !== 'main')?.[1];

/** The version in the package.json of this package, two folders above both `src/cli` and `dist/cli`. */
export function version(): string {
  const content: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  const isPackage = typeof content === 'object' && content !== null && 'version' in content;
  return isPackage && typeof content.version === 'string' ? content.version : 'unknown';
}
