import { randomUUID } from 'node:crypto';
import { closeSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { concat, defer, finalize, ignoreElements, type Observable, tap } from 'rxjs';
import { activeContracts, type ContractEntry, type ContractLocation } from '../../contracts/index.js';
import type { CreatedEvent } from '../../index.js';
import { type Names, queryOf, templateOf } from '../Selection.js';
import type { Session } from '../Session.js';
import { systemReason } from '../World.js';

/** A contract as `--json` prints it: where it is, its payload, and what else its created event has, each once. */
export interface ContractLine extends Omit<CreatedEvent, '_tag' | 'createArgument'> {
  readonly _tag: 'Contract';
  /** `#package-name:Module:Entity`. */
  readonly type: string;
  readonly location: ContractLocation;
  readonly reassignmentCounter: number;
  /** The arguments as the ledger sent them. */
  readonly payload: unknown;
}

/** What a line is made of. A contract has it, too. */
interface LineFacts {
  readonly createdEvent: CreatedEvent;
  readonly location: ContractLocation;
  readonly reassignmentCounter: number;
}

/** The line of a contract. */
export function toContractLine({ createdEvent, location, reassignmentCounter }: LineFacts): ContractLine {
  const { createArgument: payload, ...others } = createdEvent;
  const { contractId } = others;
  return {
    ...{ _tag: 'Contract', type: templateOf(others), contractId, location, reassignmentCounter, payload },
    ...others,
    _tag: 'Contract',
  };
}

/** A contract of a snapshot, as one line of JSON. */
export interface SnapshotContract {
  readonly json: string;
  readonly line: ContractLine;
}

/** The snapshot to read: its contracts, and the offset; the ledger end without one. */
interface Request extends Names {
  readonly at: number | undefined;
}

/**
 * Reads a snapshot, and prints it when nothing is missing: each contract once, and where it is now.
 *
 * Memory stays flat: contracts are spooled as they come. Only those that are being reassigned are held, because the ledger
 * lists at the end what has become of their entries.
 *
 * @param print - prints the contracts or does something else with them. They can be read, several times, until it completes
 */
export const readSnapshot = <A>(
  { ledger, world }: Session,
  { at, ...names }: Request,
  print: (contracts: Iterable<SnapshotContract>) => Observable<A>,
): Observable<A> =>
  defer(() => {
    const { TMPDIR = '' } = world.env;
    const spool = new Spool(TMPDIR === '' ? tmpdir() : TMPDIR);
    const reassigned = new Map<string, Claim[]>();
    const onRestart = (): void => {
      spool.clear();
      reassigned.clear();
    };
    const entries$ = activeContracts(ledger, { ...queryOf(names), activeAtOffset: at }, { onRestart });
    const read$ = entries$.pipe(
      tap((entry) => {
        if (entry._tag === 'ActiveContract') {
          const { synchronizerId, ...facts } = entry;
          spool.add(JSON.stringify(toContractLine({ ...facts, location: { synchronizerId } })));
          return;
        }
        const { contractId, claim } = reassignmentIn(entry);
        reassigned.set(contractId, [...(reassigned.get(contractId) ?? []), claim]);
      }),
      ignoreElements(),
    );
    const printed$ = defer(() => print({ [Symbol.iterator]: () => contractsOf(spool, reassigned) }));
    return concat(read$, printed$).pipe(
      finalize(() => {
        spool.clear();
      }),
    );
  });

/** What one entry says about a contract that is being reassigned. */
interface Claim {
  /** The reassignment after which it is so. */
  readonly counter: number;
  /** The contract there; `undefined` if it has been assigned, and is archived unless another entry has it. */
  readonly line: ContractLine | undefined;
}

function reassignmentIn(entry: Exclude<ContractEntry, { _tag: 'ActiveContract' }>): {
  readonly contractId: string;
  readonly claim: Claim;
} {
  switch (entry._tag) {
    case 'IncompleteUnassigned': {
      const { createdEvent, unassignedEvent } = entry;
      const { source, target, reassignmentCounter: counter } = unassignedEvent;
      const line = toContractLine({
        createdEvent,
        location: { inFlight: { source, target } },
        reassignmentCounter: counter,
      });
      return { contractId: createdEvent.contractId, claim: { counter, line } };
    }
    case 'IncompleteAssigned': {
      const { createdEvent, reassignmentCounter: counter } = entry.assignedEvent;
      return { contractId: createdEvent.contractId, claim: { counter, line: undefined } };
    }
    case 'UnknownContractEntry':
      throw new Error('the ledger sent an entry of an unknown kind: a later version of canton-rx may read it');
  }
}

/** The contracts of a spool. Those that are being reassigned come last. */
function* contractsOf(spool: Spool, reassigned: Map<string, Claim[]>): Generator<SnapshotContract, void> {
  for (const json of spool.lines()) {
    // written by this process
    const line = JSON.parse(json) as ContractLine;
    const claims = reassigned.get(line.contractId);
    // a second reading adds the same claims again, which does not change the last one
    if (claims === undefined) yield { json, line };
    else claims.push({ counter: line.reassignmentCounter, line });
  }
  for (const claims of reassigned.values()) {
    // of claims about the same reassignment, that of the active contract comes last
    const { line } = claims.reduce((last, claim) => (claim.counter >= last.counter ? claim : last));
    if (line !== undefined) yield { json: JSON.stringify(line), line };
  }
}

/** How many characters are held in memory. */
const maxHeld = 2 ** 22;

/** How much is read from the file at once, in bytes. */
const readSize = 2 ** 20;

/**
 * Lines that are kept until it is known that none is missing. The first are held in memory, and more of them in a temporary
 * file that only its owner can read, and that has no name: it is gone with the process, however that ends.
 */
class Spool {
  #held: string[] = [];
  #heldSize = 0;
  #file: number | undefined;
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Adds a line, which must have no line feed. */
  add(line: string): void {
    this.#held.push(line);
    this.#heldSize += line.length;
    if (this.#heldSize >= maxHeld) this.#flush();
  }

  /** Removes all lines. */
  clear(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
    this.#held = [];
    this.#heldSize = 0;
  }

  /** All lines, in their order. */
  *lines(): Generator<string, void> {
    if (this.#file !== undefined) yield* linesOf(this.#file);
    yield* this.#held;
  }

  #flush(): void {
    this.#file ??= openNameless(this.#folder);
    const bytes = Buffer.from(`${this.#held.join('\n')}\n`);
    for (let written = 0; written < bytes.length;) written += writeSync(this.#file, bytes, written);
    this.#held = [];
    this.#heldSize = 0;
  }
}

function openNameless(folder: string): number {
  const path = join(folder, `canton-rx-${randomUUID()}`);
  try {
    const file = openSync(path, 'wx+', 0o600);
    unlinkSync(path);
    return file;
  } catch (cause) {
    const text = `no temporary file can be created in ${folder}, the folder of TMPDIR`;
    throw new Error(`${text}: ${systemReason(cause) ?? 'unknown error'}`, { cause });
  }
}

function* linesOf(file: number): Generator<string, void> {
  const decoder = new StringDecoder('utf8');
  const buffer = Buffer.alloc(readSize);
  let rest = '';
  for (let position = 0; ;) {
    const count = readSync(file, buffer, 0, readSize, position);
    if (count === 0) return;
    position += count;
    const lines = `${rest}${decoder.write(buffer.subarray(0, count))}`.split('\n');
    // every line in the file ends with a line feed
    rest = lines.pop() ?? '';
    yield* lines;
  }
}
