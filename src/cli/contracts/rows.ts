import type { ContractLocation } from '../../contracts/index.js';
import { entityOf, joinPieces, padColumn, type Piece } from '../pretty.js';
import type { Paint } from '../terminal.js';
import { escapeText, shortId, truncate } from '../text.js';
import type { ContractLine, SnapshotContract } from './snapshot.js';

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
export const contractRows =
  (columns: () => number, paint: Paint): ((line: ContractLine, mark?: Mark) => string) =>
  (line, mark) =>
    `${joinPieces(contractPieces(line, columns(), mark), columns(), paint)}\n`;

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

const gap: Piece = { text: '  ' };

function contractPieces(line: ContractLine, columns: number, mark?: Mark): readonly Piece[] {
  const { contractId, type, location, payload } = line;
  const isNarrow = columns < columnsForAll;
  const id: Piece = { text: padColumn(escapeText(truncate(contractId, widths.id)), widths.id), format: 'dim' };
  return [
    ...(mark === undefined ? [] : [marks[mark]]),
    ...(isNarrow ? [] : [id, gap]),
    { text: padColumn(shortType(type), widths.type) },
    gap,
    ...(isNarrow && !('inFlight' in location) ? [] : [placeOf(location), gap]),
    ...payloadPieces(payload),
  ];
}

/** `package-name:Entity` of `#package-name:Module:Entity`. */
export const shortType = (type: string): string => `${escapeText(type.slice(1).split(':')[0] ?? '')}:${entityOf(type)}`;

/** The synchronizer of a contract, or those between which it is in flight. */
function placeOf(location: ContractLocation): Piece {
  if (!('inFlight' in location)) return { text: padColumn(shortId(location.synchronizerId), widths.place) };
  const { source, target } = location.inFlight;
  return { text: padColumn(`${shortId(source)} → ${shortId(target)}`, widths.place), format: 'magenta' };
}

/** The fields of a payload: `owner alice  amount 10.0`. */
function payloadPieces(payload: unknown): readonly Piece[] {
  if (typeof payload !== 'object' || payload === null || Array.isArray(payload)) return [{ text: valueText(payload) }];
  return Object.entries(payload).flatMap(([name, value]: [string, unknown], index): readonly Piece[] => [
    ...(index === 0 ? [] : [gap]),
    { text: `${escapeText(name)} `, format: 'dim' },
    { text: valueText(value) },
  ]);
}

const partyId = /^[^:]+::[0-9a-f]{16,}$/;

/** A value of a payload: a party by its short name, other texts as they are, an absent value as a dash. */
function valueText(value: unknown): string {
  if (value === null || value === undefined) return '–';
  if (typeof value === 'string') return partyId.test(value) ? shortId(value) : escapeText(value);
  if (typeof value !== 'object') return escapeText(JSON.stringify(value));
  if (Array.isArray(value)) return `[${value.map(valueText).join(', ')}]`;
  const fields = Object.entries(value).map(
    ([name, field]: [string, unknown]) => `${escapeText(name)} ${valueText(field)}`,
  );
  return `{${fields.join(', ')}}`;
}

/** The columns before those of the payload. */
const csvColumns: Readonly<Record<string, (line: ContractLine) => unknown>> = {
  contractId: ({ contractId }) => contractId,
  type: ({ type }) => type,
  synchronizer: ({ location }) => ('inFlight' in location ? location.inFlight.target : location.synchronizerId),
  createdAt: ({ createdAt }) => createdAt,
  offset: ({ offset }) => offset,
  signatories: ({ signatories }) => signatories.join(' '),
  observers: ({ observers }) => observers.join(' '),
};

/**
 * Formats contracts as comma-separated values (RFC 4180): a line with the names of the columns, and a line for each contract.
 * Each field of the payloads has a column, `payload.owner`; values that are not scalars are JSON.
 */
export function csvForm() {
  let fields: readonly string[] = [];
  return {
    heading: (contracts: Iterable<SnapshotContract>): string => {
      const names = new Set<string>();
      for (const { line } of contracts) for (const name of Object.keys(fieldsOf(line))) names.add(name);
      fields = [...names];
      return toLine([...Object.keys(csvColumns), ...fields.map((name) => `payload.${name}`)]);
    },
    snapshotLine: ({ line }: SnapshotContract): string => {
      const payload = fieldsOf(line);
      return toLine([...Object.values(csvColumns).map((read) => read(line)), ...fields.map((name) => payload[name])]);
    },
  };
}

const fieldsOf = ({ payload }: ContractLine): Readonly<Record<string, unknown>> =>
  typeof payload === 'object' && payload !== null && !Array.isArray(payload)
    ? (payload as Readonly<Record<string, unknown>>)
    : { '': payload };

const toLine = (values: readonly unknown[]): string => `${values.map(cell).join(',')}\r\n`;

/** A value as a cell. One that a spreadsheet would run as a formula begins with an apostrophe. */
function cell(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const isFormula = /^[=+\-@\t\r]/.test(text) && !/^[+-]?\d+(?:\.\d+)?$/.test(text);
  const safe = isFormula ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
