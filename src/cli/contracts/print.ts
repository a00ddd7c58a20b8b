import { concatMap, defer, type Observable } from 'rxjs';
import type { AnyContract } from '../../contracts/Contract.js';
import type { ContractsChanged, Reset } from '../../contracts/ContractChange.js';
import { type ContractsSource, contractsSource } from '../../contracts/ContractsSource.js';
import { join, type JoinStep } from '../../contracts/join.js';
import { connectionOf } from '../../ledger/connection.js';
import type { Ledger } from '../../ledger/Ledger.js';
import { ready, writeAll } from '../output.js';
import { columnsOf, paintFor, type StatusLine } from '../terminal.js';
import { escapeJsonLine, groupDigits } from '../text.js';
import type { World } from '../World.js';
import { type ContractLine, toChangeLine, toContractLine } from './ContractLine.js';
import type { ContractsOptions } from './ContractsOptions.js';
import type { ContractsProgress } from './progress.js';
import { contractHeading, contractRows, type Mark } from './rows.js';
import { type ContractText, printLines, type Snapshot } from './snapshot.js';

/** Where contracts are printed, and the progress that is kept. */
interface Printer {
  readonly world: World;
  readonly status: StatusLine;
  readonly progress: ContractsProgress;
}

/** Prints the contracts that the options select, and what changes them; completes when all are printed. */
export const printContracts = (ledger: Ledger, options: ContractsOptions, printer: Printer): Observable<never> =>
  defer(() => {
    const sourceOf = contractsSource(ledger, {});
    const source = sourceOf(connectionOf(ledger)?.service.newFeed() ?? 0);
    return options.isFollowed ? printChanges(source, options, printer) : printSnapshot(source, options, printer);
  });

function printSnapshot(source: ContractsSource, options: ContractsOptions, printer: Printer): Observable<never> {
  const { world, status, progress } = printer;
  const form = formOf(options, world);
  const onProgress = (count: number): void => {
    progress.read = count;
  };
  const print = ({ offset, contracts }: Snapshot): Observable<never> => {
    status.clear();
    progress.state = 'printing';
    const texts = function* (): Generator<string, void> {
      yield form.heading();
      for (const text of contracts()) {
        countContract(progress, text);
        yield form.snapshotLine(text);
      }
      // not before: an output that fails has not all contracts
      progress.offset = offset;
    };
    return writeAll(world.stdout, texts());
  };
  return printLines(source, options, onProgress, print);
}

function countContract({ types }: ContractsProgress, { type, isInFlight }: ContractText): void {
  const { count = 0, inFlight = 0 } = types.get(type) ?? {};
  types.set(type, { count: count + 1, inFlight: inFlight + (isInFlight ? 1 : 0) });
}

/** Prints all contracts and then their changes, as fast as they are read from stdout, and without an end. */
function printChanges(source: ContractsSource, options: ContractsOptions, printer: Printer): Observable<never> {
  const { world, status, progress } = printer;
  const { stdout } = world;
  const form = formOf(options, world);
  const textsOf = function* ({ changes, fold, offset, isCaughtUp }: JoinStep<AnyContract>): Generator<string, void> {
    for (const change of changes) {
      if (change._tag === 'Reset') {
        // until all of them are printed again, they are not complete
        progress.offset = undefined;
        yield* form.reset(change);
      }
      if (change._tag === 'ContractsChanged') yield form.change(change);
    }
    progress.state = isCaughtUp ? 'live' : 'following';
    progress.offset = offset;
    progress.active = fold.contracts.size;
  };
  return join(
    source,
    { query: options.query },
    defer(() => ready(stdout)),
  ).pipe(
    concatMap((step) => {
      // rows and the status line may share a terminal
      const hasText = step.changes.some(({ _tag }) => _tag === 'Reset' || _tag === 'ContractsChanged');
      if (hasText && stdout.isTTY === true) status.clear();
      return writeAll(stdout, textsOf(step));
    }),
  );
}

/** The form of what is printed. */
interface Form {
  readonly heading: () => string;
  readonly snapshotLine: (text: ContractText) => string;
  readonly reset: (reset: Reset) => Iterable<string>;
  readonly change: (change: ContractsChanged) => string;
}

const formOf = ({ isPretty }: ContractsOptions, world: World): Form => (isPretty ? rowForm(world) : jsonForm(world));

/** JSON for programs, or JSON that is safe for a terminal. */
function jsonForm({ stdout }: World): Form {
  const escape = stdout.isTTY === true ? escapeJsonLine : (line: string) => line;
  const lineOf = (value: unknown): string => escape(`${JSON.stringify(value)}\n`);
  return {
    heading: () => '',
    snapshotLine: ({ json }) => escape(`${json}\n`),
    *reset({ _tag, reason, offset, contracts }) {
      yield lineOf({ _tag, reason, offset, count: contracts.length });
      for (const contract of contracts) yield lineOf(toContractLine(contract));
    },
    change: (change) => lineOf(toChangeLine(change)),
  };
}

const reasons: Readonly<Record<Reset['reason'], string>> = {
  start: '',
  pruned: ': the ledger was pruned meanwhile',
  ledgerReset: ': the ledger was reset',
  packageFound: '',
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
    // written by this process
    snapshotLine: ({ json }) => row(JSON.parse(json) as ContractLine),
    *reset({ reason, offset, contracts }) {
      if (reason !== 'start') yield paint('yellow', `── all contracts again${reasons[reason]} ──\n`);
      yield heading();
      for (const contract of contracts) yield row(toContractLine(contract));
      yield paint('dim', `── ${groupDigits(contracts.length)} at offset ${offset}; changes follow ──\n`);
    },
    change: ({ added, removed, moved }) =>
      rowsOf(removed, 'removed') +
      rowsOf(
        moved.map(({ contract }) => contract),
        'moved',
      ) +
      rowsOf(added, 'added'),
  };
}
