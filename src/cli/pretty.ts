import type { ContractLocation } from '../contracts/index.js';
import type { ReassignmentEvent, TopologyEvent, TransactionEvent, Update } from '../index.js';
import type { ContractLine } from './contracts/snapshot.js';
import { variantNames } from './Selection.js';
import { ShortIds } from './ShortIds.js';
import { type Paint, showText, truncate, widthOf } from './terminal.js';

/**
 * Formats updates for people: a row for each, never wider than the terminal, and a heading before the first row of a day.
 *
 * @param columns - returns the current width of the terminal
 */
export function prettyRows(columns: () => number, paint: Paint): (update: Update) => string {
  let day = '';
  const ids: RowIds = { synchronizers: new ShortIds(synchronizerWidth), others: new ShortIds() };
  return (update) => {
    const today = showText(recordTimeOf(update).slice(0, 10));
    const isNewDay = today !== '' && today !== day;
    if (isNewDay) day = today;
    const heading = isNewDay ? `${joinPieces([{ text: `── ${today} ──`, format: 'dim' }], columns(), paint)}\n` : '';
    return `${heading}${joinPieces(updatePieces(update, columns(), ids), columns(), paint)}\n`;
  };
}

/** The record time of an update. A checkpoint has one for each synchronizer: the latest. Empty if there is none. */
function recordTimeOf(update: Update): string {
  if ('recordTime' in update) return update.recordTime;
  const times = 'synchronizerTimes' in update ? update.synchronizerTimes : [];
  return times.map(({ recordTime }) => recordTime).reduce((last, time) => (time > last ? time : last), '');
}

/** A part of a row: its text, safe for a terminal, and its colour. */
interface Piece {
  readonly text: string;
  readonly format?: Parameters<Paint>[0];
}

/** Joins the pieces of a row and cuts it to the width of the terminal; `…` marks the cut. */
function joinPieces(pieces: readonly Piece[], columns: number, paint: Paint): string {
  const painted = ({ text, format }: Piece): string => (format === undefined ? text : paint(format, text));
  const fits = pieces.reduce((width, { text }) => width + widthOf(text), 0) <= columns;
  if (fits) return pieces.map(painted).join('').trimEnd();
  let room = columns;
  let row = '';
  for (const piece of pieces) {
    const width = widthOf(piece.text);
    // one column is for the mark of the cut
    if (width >= room) return row + painted({ ...piece, text: truncate(`${piece.text} `, room) });
    row += painted(piece);
    room -= width;
  }
  return row;
}

const gap: Piece = { text: '  ' };

/** Narrower terminals get no time, or no synchronizer either: the events need the room. */
const columnsFor = { time: 80, synchronizer: 50 };

const synchronizerWidth = 12;

/** The short forms of the ids in rows. Synchronizers have the width of their column; parties and participants have none. */
interface RowIds {
  readonly synchronizers: ShortIds;
  readonly others: ShortIds;
}

/** The columns of an update: offset, time, synchronizer, variant, events and parties. */
function updatePieces(update: Update, columns: number, ids: RowIds): readonly Piece[] {
  const variant = variantNames[update._tag] + (update._tag === 'UnknownUpdate' ? showText(update.variant) : '');
  const synchronizer = 'synchronizerId' in update ? ids.synchronizers.of(update.synchronizerId ?? '') : '';
  const events = 'events' in update ? eventPieces(update.events, ids) : [];
  const parties = partiesOf(update)
    .map((id) => ids.others.of(id))
    .join(', ');
  return [
    { text: String(update.offset).padStart(8) },
    ...(columns < columnsFor.time ? [] : [gap, { text: padColumn(timeOf(update), 12), format: 'dim' } as const]),
    ...(columns < columnsFor.synchronizer ? [] : [gap, { text: padColumn(synchronizer, synchronizerWidth) }]),
    gap,
    { text: padColumn(variant, 10), format: 'dim' },
    ...events.flatMap((event) => [gap, event]),
    ...(parties === '' ? [] : [gap, { text: parties, format: 'dim' } as const]),
  ];
}

/** The events: `+Asset` created, `-Asset` archived, `*Asset.Split` exercised; repeated ones as `×2`. */
function eventPieces(events: readonly RowEvent[], ids: RowIds): readonly Piece[] {
  const counts = new Map<string, { piece: Piece; count: number }>();
  for (const piece of events.map((event) => eventPiece(event, ids))) {
    const { count } = counts.get(piece.text) ?? { count: 0 };
    counts.set(piece.text, { piece, count: count + 1 });
  }
  return [...counts.values()].map(({ piece, count }) =>
    count > 1 ? { ...piece, text: `${piece.text} ×${count}` } : piece,
  );
}

type RowEvent = PartyEvent | TopologyEvent;

function eventPiece(event: RowEvent, { synchronizers, others }: RowIds): Piece {
  switch (event._tag) {
    case 'CreatedEvent':
      return { text: `+${entityOf(event.templateId)}`, format: 'green' };
    case 'ArchivedEvent':
      return { text: `-${entityOf(event.templateId)}`, format: 'red' };
    case 'ExercisedEvent': {
      const choice = `${entityOf(event.templateId)}.${showText(event.choice)}`;
      return event.consuming ? { text: `-${choice}`, format: 'red' } : { text: `*${choice}`, format: 'cyan' };
    }
    case 'UnassignedEvent':
      return { text: `${entityOf(event.templateId)} → ${synchronizers.of(event.target)}`, format: 'magenta' };
    case 'AssignedEvent':
      return {
        text: `${entityOf(event.createdEvent.templateId)} ← ${synchronizers.of(event.source)}`,
        format: 'magenta',
      };
    case 'ParticipantAuthorizationAdded':
    case 'ParticipantAuthorizationOnboarding':
      return { text: `${others.of(event.partyId)} on ${others.of(event.participantId)}`, format: 'blue' };
    case 'ParticipantAuthorizationChanged':
      return { text: `${others.of(event.partyId)} changed on ${others.of(event.participantId)}`, format: 'blue' };
    case 'ParticipantAuthorizationRevoked':
      return { text: `${others.of(event.partyId)} off ${others.of(event.participantId)}`, format: 'blue' };
    case 'UnknownEvent':
    case 'UnknownTopologyEvent':
      return { text: `?${showText(event.variant)}`, format: 'dim' };
  }
}

/** The last part of `package-id:Module:Entity`. */
const entityOf = (templateId = '?'): string => showText(templateId.slice(templateId.lastIndexOf(':') + 1));

/** The parties of an update, without duplicates. */
function partiesOf(update: Update): readonly string[] {
  if (update._tag !== 'Transaction' && update._tag !== 'Reassignment') return [];
  return [...new Set(update.events.flatMap(eventParties))];
}

type PartyEvent = TransactionEvent | ReassignmentEvent;

function eventParties(event: PartyEvent): readonly string[] {
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

/** Cuts or fills a text to the width of a column. */
function padColumn(text: string, width: number): string {
  const fitting = truncate(text, width);
  return fitting + ' '.repeat(Math.max(0, width - widthOf(fitting)));
}

/** The time of day of the record time: `12:34:56.789`. */
const timeOf = (update: Update): string => showText(recordTimeOf(update).slice(11, 23).replace('Z', ''));

/** What happened to a contract; absent in a snapshot. */
export type Mark = 'added' | 'removed' | 'moved';

const marks = {
  added: { text: '+ ', format: 'green' },
  removed: { text: '- ', format: 'red' },
  moved: { text: '→ ', format: 'magenta' },
} as const;

/**
 * Formats contracts for people: a row for each, never wider than the terminal, with its id, package and entity, place and
 * payload.
 *
 * @param columns - returns the current width of the terminal
 */
export function contractRows(columns: () => number, paint: Paint): (line: ContractLine, mark?: Mark) => string {
  const ids: ContractIds = {
    places: new ShortIds(widths.place),
    flights: new ShortIds(Math.floor((widths.place - arrow.length) / 2)),
    parties: new ShortIds(),
  };
  return (line, mark) => `${joinPieces(contractPieces(line, columns(), ids, mark), columns(), paint)}\n`;
}

/** The short forms of the ids in rows of contracts. */
interface ContractIds {
  readonly places: ShortIds;
  /** Two of them share the column of the place. */
  readonly flights: ShortIds;
  readonly parties: ShortIds;
}

const arrow = ' → ';

const widths = { id: 13, type: 26, place: 14 };

/** Narrower terminals get neither the id nor the place: the payload needs the room. */
const columnsForAll = 80;

/** The names of the columns. */
export const contractHeading = (columns: number, paint: Paint): string => {
  const type = padColumn('package:entity', widths.type);
  const names =
    columns < columnsForAll
      ? [type, 'payload']
      : [padColumn('contract', widths.id), type, padColumn('on', widths.place), 'payload'];
  return `${joinPieces([{ text: names.join('  '), format: 'dim' }], columns, paint)}\n`;
};

function contractPieces(line: ContractLine, columns: number, ids: ContractIds, mark?: Mark): readonly Piece[] {
  const { contractId, type, location, payload } = line;
  const isNarrow = columns < columnsForAll;
  const id: Piece = { text: padColumn(showText(truncate(contractId, widths.id)), widths.id), format: 'dim' };
  return [
    ...(mark === undefined ? [] : [marks[mark]]),
    ...(isNarrow ? [] : [id, gap]),
    { text: padColumn(shortType(type), widths.type) },
    gap,
    ...(isNarrow && !('inFlight' in location) ? [] : [placeOf(location, ids), gap]),
    ...payloadPieces(payload, ids.parties),
  ];
}

/** `package-name:Entity` of `#package-name:Module:Entity`. */
export const shortType = (type: string): string =>
  `${showText(type.slice(1).split(':', 1)[0] ?? '')}:${entityOf(type)}`;

/** The synchronizer of a contract, or those between which it is in flight. */
function placeOf(location: ContractLocation, { places, flights }: ContractIds): Piece {
  if (!('inFlight' in location)) return { text: padColumn(places.of(location.synchronizerId), widths.place) };
  const { source, target } = location.inFlight;
  return { text: padColumn(`${flights.of(source)}${arrow}${flights.of(target)}`, widths.place), format: 'magenta' };
}

/** The fields of a payload: `owner alice  amount 10.0`. */
function payloadPieces(payload: unknown, parties: ShortIds): readonly Piece[] {
  if (typeof payload !== 'object' || payload === null || Array.isArray(payload))
    return [{ text: valueText(payload, parties) }];
  return Object.entries(payload).flatMap(([name, value]: [string, unknown], index): readonly Piece[] => [
    ...(index === 0 ? [] : [gap]),
    { text: `${showText(name)} `, format: 'dim' },
    { text: valueText(value, parties) },
  ]);
}

const partyId = /^[^:]+::[0-9a-f]{16,}$/;

/** A value of a payload: a party by its short name, other texts as they are, an absent value as a dash. */
function valueText(value: unknown, parties: ShortIds, depth = 0): string {
  if (value === null || value === undefined) return '–';
  if (typeof value === 'string') return partyId.test(value) ? parties.of(value) : showText(value);
  if (typeof value !== 'object') return showText(JSON.stringify(value));
  if (depth === maxDepth) return '…';
  if (Array.isArray(value)) return `[${value.map((element) => valueText(element, parties, depth + 1)).join(', ')}]`;
  const fields = Object.entries(value).map(
    ([name, field]: [string, unknown]) => `${showText(name)} ${valueText(field, parties, depth + 1)}`,
  );
  return `{${fields.join(', ')}}`;
}

/** How deep a value is shown: no row has the room for more. */
const maxDepth = 20;
