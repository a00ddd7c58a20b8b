/**
 * The characters that do not print as themselves, of any text from outside: control characters (also of 8 bits), changes of
 * the direction of writing, separators of lines and paragraphs, invisible characters and tags, halves of a surrogate pair,
 * and code points without a meaning. Marks that combine with the character before them print.
 */
const unprintable = /[\p{C}\p{Zl}\p{Zp}]|(?!\p{M})\p{Default_Ignorable_Code_Point}/gu;

/** Any of them, and blanks. */
const blanks = /(?:[\s\p{C}\p{Zl}\p{Zp}]|(?!\p{M})\p{Default_Ignorable_Code_Point})+/gu;

/** Texts of these characters alone, which are most texts, need no other look. */
const isPlain = (text: string): boolean => !/[^\x20-\x7e]/.test(text);

/** A text on one line that cannot control what shows it: the other characters become `\u{1b}`. */
export const escapeText = (text: string): string =>
  isPlain(text)
    ? text
    : text.replace(unprintable, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);

/** JSON that cannot control what shows it, and has the same value: the other characters become `\u001b`. */
export const escapeJson = (json: string): string =>
  isPlain(json)
    ? json
    : json.replace(unprintable, (character) =>
        character
          .split('')
          .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
          .join(''),
      );

/** A text on one line: each run of blanks and of characters that do not print becomes a space. */
export const joinLines = (text: string): string => text.replace(blanks, ' ');

/** The beginning of a text, of at most so many UTF-16 units. Does not cut a character in half. */
export const cut = (text: string, maxLength: number): string =>
  text.length <= maxLength ? text : text.slice(0, maxLength).replace(/[\ud800-\udbff]$/, '');
