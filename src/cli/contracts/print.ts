import { defer, ignoreElements, type Observable, tap } from 'rxjs';
import type { AnyContract, ContractsChanged } from '../../contracts/index.js';
import { escapeJson } from '../../errors/escapeText.js';
import { contractsFeed, type ContractsWork, processFeed, type ResetBatch } from '../../process/index.js';
import { contractHeading, contractRows, type Mark } from '../pretty.js';
import { type Names, queryOf } from '../Selection.js';
import type { Session } from '../Session.js';
import { columnsOf, escapeText, groupDigits, jsonLine, paintFor } from '../terminal.js';
import { type World, writeAll } from '../World.js';
import { type ContractLine, readSnapshot, type SnapshotContract, toContractLine } from './snapshot.js';

/** How far the contracts are printed. Only the functions that print change it. */
export interface ContractsProgress {
  /** How many entries of the snapshot were received. */
  read: number;
  /** The offset of the snapshot; absent before it is received. */
  snapshotOffset: number | undefined;
  /** The offset up to which everything is printed; absent before all contracts are, also when they are printed again. */
  offset: number | undefined;
  isCaughtUp: boolean;
  /** How many contracts are active, if they are followed. */
  active: number;
  /** How many contracts of each type the snapshot has. */
  readonly types: Map<string, { readonly count: number; readonly inFlight: number }>;
}

/** The contracts to print, and how. */
interface Printing extends Names {
  /** The offset of the snapshot; absent for the ledger end. */
  readonly at: number | undefined;
  /** Whether to print rows for people rather than JSON for programs. */
  readonly isPretty: boolean;
  /** Whether to print a snapshot as comma-separated values. */
  readonly isCsv: boolean;
}

/** Prints all contracts; completes when they are printed. */
export const printSnapshot = (session: Session, printing: Printing, progress: ContractsProgress): Observable<never> =>
  readSnapshot(session, printing, (contracts) => {
    const { world, status } = session;
    const form = formOf(printing, world);
    status.clear();
    const texts = function* (): Generator<string, void> {
      yield form.heading(contracts);
      for (const contract of contracts) {
        countContract(progress, contract);
        yield form.snapshotLine(contract);
      }
      // not before: an output that fails has not all contracts
      progress.offset = progress.snapshotOffset;
    };
    return writeAll(world.stdout, texts());
  });

function countContract({ types }: ContractsProgress, { line }: SnapshotContract): void {
  const { count = 0, inFlight = 0 } = types.get(line.type) ?? {};
  types.set(line.type, { count: count + 1, inFlight: inFlight + ('inFlight' in line.location ? 1 : 0) });
}

/** Prints all contracts and then their changes, as fast as they are read from stdout, and without an end. */
export function printChanges(session: Session, printing: Printing, progress: ContractsProgress): Observable<never> {
  const { ledger, status, world } = session;
  const form = formOf(printing, world);
  const textsOf = function* (work: ContractsWork): Generator<string, void> {
    if (work._tag === 'ContractsChanged') {
      progress.active += work.added.length - work.removed.length;
      yield form.change(work);
      return;
    }
    // until all of them are printed again, they are not complete
    progress.offset = undefined;
    progress.active = work.contracts.length;
    yield* form.reset(work);
  };
  const print = (work: ContractsWork): Observable<never> =>
    defer(() => {
      // rows and the status line may share a terminal
      if (world.stdout.isTTY === true) status.clear();
      return writeAll(world.stdout, textsOf(work));
    });
  const feed = contractsFeed(ledger, queryOf(printing), { batchSize: Infinity });
  return processFeed(feed, print, { handlerRetry: { giveUpAfterMs: 0 } }).pipe(
    tap(({ offset, isCaughtUp }) => {
      Object.assign(progress, { offset, isCaughtUp });
    }),
    ignoreElements(),
  );
}

/** The form of what is printed. */
interface Form {
  readonly heading: (contracts: Iterable<SnapshotContract>) => string;
  readonly snapshotLine: (contract: SnapshotContract) => string;
  readonly reset: (reset: ResetBatch) => Iterable<string>;
  readonly change: (change: ContractsChanged) => string;
}

const formOf = ({ isPretty, isCsv }: Printing, world: World): Form => {
  if (isCsv) return { ...jsonForm, ...csvForm(world) };
  return isPretty ? rowForm(world) : jsonForm;
};

/** JSON for programs. */
const jsonForm: Form = {
  heading: () => '',
  snapshotLine: ({ json }) => `${escapeJson(json)}\n`,
  *reset({ reason, offset, contracts }) {
    yield jsonLine({ _tag: 'Reset', reason, offset, count: contracts.length });
    for (const contract of contracts) yield jsonLine(toContractLine(contract));
  },
  change: ({ _tag, offset, reason, updateId, synchronizerId, recordTime, added, removed, moved }) =>
    jsonLine({
      ...{ _tag, offset, reason, updateId, synchronizerId, recordTime },
      added: added.map(toContractLine),
      removed: removed.map(toContractLine),
      moved: moved.map(({ contract, from }) => ({ contract: toContractLine(contract), from })),
    }),
};

const reasons: Readonly<Record<ResetBatch['reason'], string>> = {
  start: '',
  pruned: ': the ledger was pruned meanwhile',
  ledgerReset: ': the ledger was reset',
  packageFound: ': a package was uploaded',
  appeared: ': earlier updates are visible by now',
  selectionChanged: ': the query selects others',
};

/** Rows for people. */
function rowForm({ stdout, env }: World): Form {
  const paint = paintFor(stdout, env);
  const columns = (): number => columnsOf(stdout, 120);
  const row = contractRows(columns, paint);
  const rowsOf = (contracts: readonly AnyContract[], mark: Mark): string =>
    contracts.map((contract) => row(toContractLine(contract), mark)).join('');
  const heading = (): string => contractHeading(columns(), paint);
  return {
    heading,
    snapshotLine: ({ line }) => row(line),
    *reset({ reason, offset, contracts }) {
      if (reason !== 'start') yield paint('yellow', `── all contracts again${reasons[reason]} ──\n`);
      yield heading();
      for (const contract of contracts) yield row(toContractLine(contract));
      yield paint('dim', `── ${groupDigits(contracts.length)} at offset ${offset}; changes follow ──\n`);
    },
    change: ({ added, removed, moved }) => {
      const movedHere = moved.map(({ contract }) => contract);
      return rowsOf(removed, 'removed') + rowsOf(movedHere, 'moved') + rowsOf(added, 'added');
    },
  };
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
 * Each field of the payloads has a column, `payload.owner`; values that are not scalars are JSON. Characters that would control
 * a terminal are escaped as in rows. In a pipe or a file, line breaks and tabs of a text remain.
 */
function csvForm({ stdout }: World) {
  let fields: readonly string[] = [];
  const escape = stdout.isTTY === true ? escapeText : escapeKeepingLines;
  const toLine = (values: readonly unknown[]): string => `${values.map((value) => cell(value, escape)).join(',')}\r\n`;
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

const escapeKeepingLines = (text: string): string =>
  text
    .split(/(\r?\n|\t)/)
    .map((part, index) => (index % 2 === 0 ? escapeText(part) : part))
    .join('');

/** A value as a cell. One that a spreadsheet would run as a formula begins with an apostrophe. */
function cell(value: unknown, escape: (text: string) => string): string {
  if (value === null || value === undefined) return '';
  const text = escape(typeof value === 'string' ? value : JSON.stringify(value));
  const isFormula = /^[=+\-@\t\r\n]/.test(text) && !/^[+-]?\d+(?:\.\d+)?$/.test(text);
  const safe = isFormula ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
