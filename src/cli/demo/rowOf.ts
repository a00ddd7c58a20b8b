import type { Update } from '../../codecs/Update.js';
import { synchronizerOf } from './synchronizerOf.js';

type Colour = 'reset' | 'magenta' | 'blue' | 'dim';
type Paint = (format: Colour | 'dim', text: string) => string;

const colours: Readonly<Record<Update['_tag'], Colour>> = {
  Transaction: 'reset',
  Reassignment: 'magenta',
  TopologyTransaction: 'blue',
  OffsetCheckpoint: 'dim',
  UnknownUpdate: 'dim',
};

/** An update in one row: offset, variant, synchronizer, kinds of event. */
export function rowOf(update: Update, paint: Paint): string {
  const { _tag, offset } = update;
  const events = 'events' in update ? update.events.map((event) => event._tag.replace(/^Js|Event$/g, '')) : [];
  return [
    `  ${String(offset).padStart(6)}`,
    paint(colours[_tag], _tag.padEnd(19)),
    synchronizerOf(update).padEnd(12),
    paint('dim', counted(events)),
  ]
    .join('  ')
    .trimEnd();
}

/** `Created ×2, Archived`. */
function counted(kinds: readonly string[]): string {
  const counts = kinds.reduce((sofar, kind) => sofar.set(kind, (sofar.get(kind) ?? 0) + 1), new Map<string, number>());
  return [...counts].map(([kind, count]) => (count > 1 ? `${kind} ×${count}` : kind)).join(', ');
}
