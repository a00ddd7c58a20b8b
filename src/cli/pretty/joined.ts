import { fitted } from '../text/fitted.js';
import type { Paint } from '../text/Paint.js';
import { widthOf } from '../text/widthOf.js';
import type { Piece } from './Piece.js';

/** The pieces in one row, which is never wider than so many columns; where it would be, `…` ends it. */
export function joined(pieces: readonly Piece[], columns: number, paint: Paint): string {
  const painted = ({ text, format }: Piece): string => (format === undefined ? text : paint(format, text));
  const isWhole = pieces.reduce((width, { text }) => width + widthOf(text), 0) <= columns;
  if (isWhole) return pieces.map(painted).join('').trimEnd();
  let room = columns;
  let row = '';
  for (const piece of pieces) {
    const width = widthOf(piece.text);
    // one column stays for the sign that there is more
    if (width >= room) return row + painted({ ...piece, text: fitted(`${piece.text} `, room) });
    row += painted(piece);
    room -= width;
  }
  return row;
}
