import type { Output } from '../World.js';
import { columnsOf } from './columnsOf.js';
import { fitted } from './fitted.js';
import type { Paint } from './Paint.js';
import { widthOf } from './widthOf.js';

/** One line of a terminal, written again and again in its place. Without a terminal it is nothing at all. */
export interface StatusLine {
  readonly isVisible: boolean;
  /** Puts a text into the line. It is made without colours where the line is too short for it. */
  show(textOf: (paint: Paint) => string): void;
  /** Takes the line away. */
  clear(): void;
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
