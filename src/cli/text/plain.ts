/**
 * Text of a ledger, or of whoever else answers, as a terminal may show it: what steers a terminal, turns the direction of
 * writing or cannot be seen is written out, `\u{1b}`.
 */
export const plain = (text: string): string =>
  text.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, (found) => `\\u{${(found.codePointAt(0) ?? 0).toString(16)}}`);
