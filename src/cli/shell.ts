import { escapeText } from '../errors/escapeText.js';

/** Characters without a meaning for a shell, in whatever place. */
const plain = /^[\w./:@+-]+$/;

/**
 * An argument as a person pastes it into a POSIX shell, which then passes on exactly this text: `'order #42'`. A character that
 * a terminal must not get is written as its bytes. A line feed stays as it is, because a shell removes those at the end of
 * what `printf` writes.
 */
export function quoteArgument(text: string): string {
  if (plain.test(text)) return text;
  const quoted = text
    .replaceAll("'", String.raw`'\''`)
    .replace(/[^\n\x20-\x7e]/gu, (character) => (escapeText(character) === character ? character : bytesOf(character)));
  return `'${quoted}'`;
}

/** An option as a person pastes it into a shell. Its value must not look like the next option: `--command-id=-x`. */
export const quoteOption = (name: string, value: string): string =>
  `--${name}${value.startsWith('-') ? '=' : ' '}${quoteArgument(value)}`;

/** Ends the quotes, lets the shell write the bytes of a character, and begins quotes again. */
const bytesOf = (character: string): string => {
  const octal = Array.from(Buffer.from(character), (byte) => `\\${byte.toString(8).padStart(3, '0')}`);
  return `'"$(printf '${octal.join('')}')"'`;
};
