import { styleText } from 'node:util';
import { cut, escapeJson, escapeText } from '../errors/escapeText.js';
import type { Update } from '../index.js';
import type { Output, World } from './World.js';

/** Colours a text, or returns it as it is where the output shows no colours. */
export type Paint = (format: Parameters<typeof styleText>[0], text: string) => string;

/** A line of a terminal that is overwritten in place. Does nothing without a terminal. */
export interface StatusLine {
  readonly isVisible: boolean;
  /** Replaces the text. Calls `format` without colours where the line is too short for the text. */
  show(format: (paint: Paint) => string): void;
  /** Removes the line. */
  clear(): void;
}

const eraseLine = '\r\u001B[K';

export function statusLine(output: Output, paint: Paint): StatusLine {
  const isVisible = output.isTTY === true;
  let isShown = false;
  return {
    isVisible,
    show(format) {
      if (!isVisible) return;
      const columns = columnsOf(output, 80);
      const text = format((_, part) => part);
      // a text that wraps cannot be erased
      output.write(`${eraseLine}${widthOf(text) < columns ? format(paint) : truncate(text, columns - 1)}`);
      isShown = true;
    },
    clear() {
      if (isShown) output.write(eraseLine);
      isShown = false;
    },
  };
}

/**
 * The colours of a stream: on for a terminal, unless `NO_COLOR` is set. `FORCE_COLOR` turns them on everywhere, and with the
 * value `0` or `false` off.
 */
export const paintFor = (stream: Output, env: World['env']): Paint =>
  hasColours(stream, env) ? (format, text) => styleText(format, text, { validateStream: false }) : (_, text) => text;

function hasColours({ isTTY }: Output, env: World['env']): boolean {
  const { FORCE_COLOR: forced, NO_COLOR: disabled, TERM: terminal } = env;
  if (forced !== undefined) return forced !== '0' && forced !== 'false';
  if (disabled !== undefined && disabled !== '') return false;
  return isTTY === true && terminal !== 'dumb';
}

/** The width of an output. A terminal without a known width, as in a container, reports 0. */
export const columnsOf = ({ columns }: Output, fallback: number): number =>
  columns === undefined || columns === 0 ? fallback : columns;

/** The characters that terminals show two columns wide: most of East Asian writing, and emoji. */
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{16fe0}-\u{18cff}\u{1aff0}-\u{1b2ff}\u{1f000}-\u{1faff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;

/** How many columns a text takes. Rather too many than too few: combining characters count, too. */
export function widthOf(text: string): number {
  let width = 0;
  for (const character of text) width += wide.test(character) ? 2 : 1;
  return width;
}

/** Cuts a text to a number of columns; `…` marks the cut. */
export function truncate(text: string, columns: number): string {
  // every character takes at least one column
  if (text.length <= columns && widthOf(text) <= columns) return text;
  let width = 1;
  let start = '';
  for (const character of text) {
    width += widthOf(character);
    if (width > columns) break;
    start += character;
  }
  return columns > 0 ? `${start}…` : '';
}

/** Breaks a text between words into lines of at most `columns` columns. A longer word gets a separate line. */
export function wrap(text: string, columns: number): readonly string[] {
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

export { escapeText };

/** How much of a text a row or a message shows, in UTF-16 units. */
const maxShown = 2_000;

/** A text of a service, safe for a terminal; `…` marks the cut of a long one. */
export function showText(text: string): string {
  const shown = escapeText(cut(text, maxShown));
  return text.length <= maxShown && shown.length <= maxShown ? shown : `${cut(shown, maxShown)}…`;
}

/** A value as one line of JSON. It is escaped in pipes and files, too: they may end on a terminal, and the value is the same. */
export const jsonLine = (value: unknown): string => `${escapeJson(JSON.stringify(value))}\n`;

/** An update as one JSON object in a line, tag first. */
export const toJsonLine = ({ _tag, ...fields }: Update): string => jsonLine({ _tag, ...fields });

/** A number with its digits in groups of three, `12 345`; `–` for an unknown one. */
export const groupDigits = (number: number | undefined): string =>
  number === undefined ? '–' : number.toLocaleString('en').replaceAll(',', ' ');

/** A number of bytes: `512 B`, `3.4 kB`, `1.2 GB`. */
export function formatSize(bytes: number): string {
  const power = bytes < 1_000 ? 0 : Math.min(4, Math.floor(Math.log10(bytes) / 3));
  const unit = ['B', 'kB', 'MB', 'GB', 'TB'][power] ?? 'B';
  return `${(bytes / 1_000 ** power).toFixed(power === 0 ? 0 : 1)} ${unit}`;
}

/** A duration in its two largest units: `4 min 10 s`, `5 h 30 min`, `12 d 3 h`. */
export function formatDuration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const parts: readonly (readonly [number, string])[] = [
    [Math.floor(whole / 86_400), 'd'],
    [Math.floor(whole / 3_600) % 24, 'h'],
    [Math.floor(whole / 60) % 60, 'min'],
    [whole % 60, 's'],
  ];
  const first = parts.findIndex(([count]) => count > 0);
  if (first === -1) return '0 s';
  return parts
    .slice(first, first + 2)
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(' ');
}
