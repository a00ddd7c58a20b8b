import type { Output } from '../World.js';

/** One line of a terminal, written again and again in its place. Without a terminal it is nothing at all. */
export interface StatusLine {
  readonly isVisible: boolean;
  /** Puts a text into the line. `styled` is the same with colours; it is not used where the line is too short for it. */
  show(text: string, styled: string): void;
  /** Takes the line away. */
  clear(): void;
}

const eraseLine = '\r\u001B[K';

export function statusLine(output: Output): StatusLine {
  const isVisible = output.isTTY === true;
  let isShown = false;
  return {
    isVisible,
    show(text, styled) {
      const { columns = 80 } = output;
      // a text that wraps cannot be taken back
      if (isVisible) output.write(`${eraseLine}${text.length < columns ? styled : text.slice(0, columns - 1)}`);
      isShown = isVisible;
    },
    clear() {
      if (isShown) output.write(eraseLine);
      isShown = false;
    },
  };
}
