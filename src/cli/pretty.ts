import type { Event } from '../codecs/Event.js';
import type { ReassignmentEvent } from '../codecs/Reassignment.js';
import type { TopologyEvent } from '../codecs/TopologyTransaction.js';
import type { Update } from '../codecs/Update.js';
import { fitted, type Paint, plain, shortId, widthOf } from './terminal.js';

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

/** The record time of an update, of a checkpoint that of the synchronizer that is farthest; empty where it has none. */
function recordTimeOf(update: Update): string {
  if ('recordTime' in update) return update.recordTime;
  const times = 'synchronizerTimes' in update ? update.synchronizerTimes : [];
  return times.map(({ recordTime }) => recordTime).reduce((last, time) => (time > last ? time : last), '');
}

/** A part of a row: its text, which a terminal may show, and how it is painted. */
interface Piece {
  readonly text: string;
  readonly format?: Parameters<Paint>[0];
}

/** The pieces in one row, which is never wider than so many columns; where it would be, `…` ends it. */
function joined(pieces: readonly Piece[], columns: number, paint: Paint): string {
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

const variants: Readonly<Partial<Record<Update['_tag'], string>>> = {
  Transaction: 'tx',
  Reassignment: 'reassign',
  TopologyTransaction: 'topology',
  OffsetCheckpoint: 'checkpoint',
};

const gap: Piece = { text: '  ' };

/** An update in parts: offset, time, synchronizer, variant, what happened, and to whom. */
function updatePieces(update: Update): readonly Piece[] {
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

/** What happened, in a word: `+Asset` created, `-Asset` archived, `*Asset.Split` exercised; the same several times as `×2`. */
function eventPieces(events: readonly (Event | ReassignmentEvent | TopologyEvent)[]): readonly Piece[] {
  const counts = new Map<string, { piece: Piece; count: number }>();
  for (const piece of events.map(pieceOf)) {
    const { count } = counts.get(piece.text) ?? { count: 0 };
    counts.set(piece.text, { piece, count: count + 1 });
  }
  return [...counts.values()].map(({ piece, count }) =>
    count > 1 ? { ...piece, text: `${piece.text} ×${count}` } : piece,
  );
}

function pieceOf(event: Event | ReassignmentEvent | TopologyEvent): Piece {
  switch (event._tag) {
    case 'CreatedEvent':
      return { text: `+${entityOf(event.templateId)}`, format: 'green' };
    case 'ArchivedEvent':
      return { text: `-${entityOf(event.templateId)}`, format: 'red' };
    case 'ExercisedEvent': {
      const what = `${entityOf(event.templateId)}.${plain(event.choice)}`;
      return event.consuming ? { text: `-${what}`, format: 'red' } : { text: `*${what}`, format: 'cyan' };
    }
    case 'UnassignedEvent':
      return { text: `${entityOf(event.templateId)} → ${shortId(event.target)}`, format: 'magenta' };
    case 'AssignedEvent':
      return { text: `${entityOf(event.createdEvent.templateId)} ← ${shortId(event.source)}`, format: 'magenta' };
    case 'ParticipantAuthorizationAdded':
    case 'ParticipantAuthorizationOnboarding':
      return { text: `${shortId(event.partyId)} on ${shortId(event.participantId)}`, format: 'blue' };
    case 'ParticipantAuthorizationChanged':
      return { text: `${shortId(event.partyId)} changed on ${shortId(event.participantId)}`, format: 'blue' };
    case 'ParticipantAuthorizationRevoked':
      return { text: `${shortId(event.partyId)} off ${shortId(event.participantId)}`, format: 'blue' };
    case 'UnknownEvent':
    case 'UnknownTopologyEvent':
      return { text: `?${plain(event.variant)}`, format: 'dim' };
  }
}

/** The last part of `package-id:Module:Entity`. */
const entityOf = (templateId: string | undefined): string => plain(templateId?.split(':').at(-1) ?? '?');

/** Whom an update concerns, by their short names, each once. */
function partiesOf(update: Update): readonly string[] {
  if (update._tag !== 'Transaction' && update._tag !== 'Reassignment') return [];
  return [...new Set(update.events.flatMap(partiesIn).map(shortId))];
}

type EventPartiesOf = Extract<Update, { _tag: 'Transaction' | 'Reassignment' }>['events'][number];

function partiesIn(event: EventPartiesOf): readonly string[] {
  switch (event._tag) {
    case 'CreatedEvent':
      return [...event.signatories, ...event.observers];
    case 'ExercisedEvent':
      return event.actingParties;
    case 'ArchivedEvent':
    case 'UnassignedEvent':
      return event.witnessParties;
    case 'AssignedEvent':
      return [...event.createdEvent.signatories, ...event.createdEvent.observers];
    case 'UnknownEvent':
      return [];
  }
}

function column(text: string, width: number): string {
  const shown = fitted(text, width);
  return shown + ' '.repeat(Math.max(0, width - widthOf(shown)));
}

/** `12:34:56.789` of the record time. */
const timeOf = (update: Update): string => plain(recordTimeOf(update).slice(11, 23).replace('Z', ''));
