import type { ContractLine, SnapshotContract } from './snapshot.js';

/** The columns before those of the payload. */
const columns: Readonly<Record<string, (line: ContractLine) => unknown>> = {
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
      return toLine([...Object.keys(columns), ...fields.map((name) => `payload.${name}`)]);
    },
    snapshotLine: ({ line }: SnapshotContract): string => {
      const payload = fieldsOf(line);
      return toLine([...Object.values(columns).map((read) => read(line)), ...fields.map((name) => payload[name])]);
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
