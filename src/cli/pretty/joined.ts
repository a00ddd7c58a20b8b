import { fitted } from '../text/fitted.js';
import type { Paint } from '../text/Paint.js';
import { widthOf } from '../text/widthOf.js';
import type { Piece } from './Piece.js';

/** The pieces in one row, which is never wider than so many columns. */
export function joined(pieces: readonly Piece[], columns: number, paint: Paint): string {
  let room = columns;
  let row = '';
  for (const { text, format } of pieces) {
    const shown = fitted(text, room);
    row += format === undefined ? shown : paint(format, shown);
    room -= widthOf(shown);
    // what was cut ends the row: a short piece behind it would look like the next
    if (shown !== text) break;
  }
  return row.trimEnd();
}
