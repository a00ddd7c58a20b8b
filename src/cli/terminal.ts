import { styleText } from 'node:util';
import { truncate, widthOf } from './text.js';
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
