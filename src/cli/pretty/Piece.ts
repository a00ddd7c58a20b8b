import type { Paint } from '../text/Paint.js';

/** A part of a row: its text, which a terminal may show, and how it is painted. */
export interface Piece {
  readonly text: string;
  readonly format?: Parameters<Paint>[0];
}
