import { widthOf } from './widthOf.js';

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
