import type { Update } from '../../codecs/Update.js';
import type { Paint } from '../text/Paint.js';
import { plain } from '../text/plain.js';
import { joined } from './joined.js';
import { recordTimeOf } from './recordTimeOf.js';
import { updatePieces } from './updatePieces.js';

/**
 * Makes updates into what people read: a row each, never wider than the terminal, and before the first row of a day, the day.
 *
 * @param columns - how wide the terminal is now
 */
export function prettyRows(columns: () => number, paint: Paint): (update: Update) => string {
  let day = '';
  return (update) => {
    const today = plain(recordTimeOf(update).slice(0, 10));
    const isNewDay = today !== '' && today !== day;
    if (isNewDay) day = today;
    const heading = isNewDay ? `${joined([{ text: `── ${today} ──`, format: 'dim' }], columns(), paint)}\n` : '';
    return `${heading}${joined(updatePieces(update), columns(), paint)}\n`;
  };
}
