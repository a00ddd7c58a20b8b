import { styleText } from 'node:util';
import type { Update } from '../codecs/Update.js';
import type { Output, World } from './World.js';

/** Gives a text a colour, or not, as it is for where it is shown. */
export type Paint = (format: Parameters<typeof styleText>[0], text: string) => string;

/** One line of a terminal, written again and again in its place. Without a terminal it is nothing at all. */
export interface StatusLine {
  readonly isVisible: boolean;
  /** Puts a text into the line. It is made without colours where the line is too short for it. */
  show(textOf: (paint: Paint) => string): void;
  /** Takes the line away. */
  clear(): void;
}

/**
 * How a stream is painted: with colours on a terminal, unless `NO_COLOR` is set; with `FORCE_COLOR` anywhere, and not at all
 * where that is `0` or `false`.
 */
export const paintFor = (stream: Output, env: World['env']): Paint =>
  hasColours(stream, env) ? (format, text) => styleText(format, text, { validateStream: false }) : (_, text) => text;

function hasColours({ isTTY }: Output, env: World['env']): boolean {
  const { FORCE_COLOR: forced, NO_COLOR: refused, TERM: terminal } = env;
  if (forced !== undefined) return forced !== '0' && forced !== 'false';
  if (refused !== undefined && refused !== '') return false;
  return isTTY === true && terminal !== 'dumb';
}

/** How wide an output is now; a terminal that does not know its width, as in a container, says 0. */
export const columnsOf = ({ columns }: Output, fallback: number): number =>
  columns === undefined || columns === 0 ? fallback : columns;

/** What terminals show two columns wide: most of East Asian writing, and emoji. */
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{16fe0}-\u{18cff}\u{1aff0}-\u{1b2ff}\u{1f000}-\u{1faff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;

/** How many columns a text takes, rather more than less: what stands above another character counts too. */
export function widthOf(text: string): number {
  let width = 0;
  for (const character of text) width += wide.test(character) ? 2 : 1;
  return width;
}

/** The begin of a text that has room in so many columns; `…` stands for the rest. */
export function fitted(text: string, columns: number): string {
  // every character takes one column at least
  if (text.length <= columns && widthOf(text) <= columns) return text;
  let width = 1;
  let begin = '';
  for (const character of text) {
    width += widthOf(character);
    if (width > columns) break;
    begin += character;
  }
  return columns > 0 ? `${begin}…` : '';
}

/** Text in lines of so many columns, broken between words; a word that is longer has a line of its own. */
export function wrapped(text: string, columns: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (line === '' || widthOf(longer) <= columns) {
      line = longer;
    } else {
      lines.push(line);
      line = word;
    }
  }
  return [...lines, line];
}

const eraseLine = '\r\u001B[K';

export function statusLine(output: Output, paint: Paint): StatusLine {
  const isVisible = output.isTTY === true;
  let isShown = false;
  return {
    isVisible,
    show(textOf) {
      if (!isVisible) return;
      const columns = columnsOf(output, 80);
      const text = textOf((_, part) => part);
      // a text that wraps cannot be taken back
      output.write(`${eraseLine}${widthOf(text) < columns ? textOf(paint) : fitted(text, columns - 1)}`);
      isShown = true;
    },
    clear() {
      if (isShown) output.write(eraseLine);
      isShown = false;
    },
  };
}

/**
 * Text of a ledger, or of whoever else answers, as a terminal may show it: what steers a terminal, turns the direction of
 * writing or cannot be seen is written out, `\u{1b}`.
 */
export const plain = (text: string): string =>
  text.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, (found) => `\\u{${(found.codePointAt(0) ?? 0).toString(16)}}`);

/** The same JSON without what JSON allows in it and a terminal obeys: C1 controls, and what turns the direction of writing. */
export const escapedLine = (line: string): string =>
  line.replaceAll(
    // of line ends, only the last one is left by JSON
    /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
    (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** A number with its digits in threes; `…` for one that is not known. */
export const grouped = (number: number | undefined): string =>
  number === undefined ? '…' : number.toLocaleString('en').replaceAll(',', ' ');

/** An update as one JSON object in a line, tag first. */
export const lineOf = ({ _tag, ...fields }: Update): string => `${JSON.stringify({ _tag, ...fields })}\n`;

/** The name that people know a party, a participant or a synchronizer by: what stands before `::`. */
export const shortId = (id: string): string => plain(id.split('::')[0] ?? '');
