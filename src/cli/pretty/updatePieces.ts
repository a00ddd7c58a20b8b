import type { Update } from '../../codecs/Update.js';
import { fitted } from '../text/fitted.js';
import { plain } from '../text/plain.js';
import { shortId } from '../text/shortId.js';
import { widthOf } from '../text/widthOf.js';
import { eventPieces } from './eventPieces.js';
import { partiesOf } from './partiesOf.js';
import type { Piece } from './Piece.js';
import { recordTimeOf } from './recordTimeOf.js';

const gap: Piece = { text: '  ' };

const variants: Readonly<Partial<Record<Update['_tag'], string>>> = {
  Transaction: 'tx',
  Reassignment: 'reassign',
  TopologyTransaction: 'topology',
  OffsetCheckpoint: 'checkpoint',
};

/** An update in parts: offset, time, synchronizer, variant, what happened, and to whom. */
export function updatePieces(update: Update): readonly Piece[] {
  const variant =
    update._tag === 'UnknownUpdate' ? `?${plain(update.variant)}` : (variants[update._tag] ?? update._tag);
  const synchronizer = 'synchronizerId' in update ? update.synchronizerId : undefined;
  const events = 'events' in update ? eventPieces(update.events) : [];
  const parties = partiesOf(update).join(', ');
  return [
    { text: String(update.offset).padStart(8) },
    gap,
    { text: column(timeOf(update), 12), format: 'dim' },
    gap,
    { text: column(shortId(synchronizer ?? ''), 12) },
    gap,
    { text: column(variant, 10), format: 'dim' },
    ...events.flatMap((event) => [gap, event]),
    ...(parties === '' ? [] : [gap, { text: parties, format: 'dim' } as const]),
  ];
}

/** `12:34:56.789` of the record time. */
const timeOf = (update: Update): string => plain(recordTimeOf(update).slice(11, 23).replace('Z', ''));

function column(text: string, width: number): string {
  const shown = fitted(text, width);
  return shown + ' '.repeat(Math.max(0, width - widthOf(shown)));
}
