import type { Event, ExercisedEvent } from '../../codecs/Event.js';
import type { ReassignmentEvent } from '../../codecs/Reassignment.js';
import type { AnyContract } from '../../contracts/Contract.js';
import type { ContractsChanged } from '../../contracts/ContractChange.js';
import {
  type ArchiveColumns,
  type ContractEdit,
  type ContractRow,
  effectiveAt,
  type ExerciseRow,
  exerciseRow,
  locationColumns,
  rowsOf,
  type UpdateRow,
  updateRow,
} from './rows.js';
import type { TemplateList } from './TemplateList.js';

/** The combined changes of several updates, so that each row is written once, however many of them changed it. */
export class ChangeBatch {
  readonly #added: ContractRow[] = [];
  /** The rows to insert for contracts that are active. */
  readonly #active = new Map<string, ContractRow[]>();
  readonly #edits = new Map<string, ContractEdit>();

  constructor(
    private readonly changes: readonly ContractsChanged[],
    private readonly templates: TemplateList,
  ) {
    for (const change of changes) this.#apply(change);
  }

  /** Rows to insert for contracts, some of which are already archived. */
  get added(): readonly ContractRow[] {
    return this.#added;
  }

  /** The changes to contracts that are in the table, one for each contract. */
  get edits(): readonly ContractEdit[] {
    return [...this.#edits.values()];
  }

  /** A row for each update. */
  get updates(): readonly UpdateRow[] {
    return this.changes.map(updateRow);
  }

  /** A row for each exercise of a choice. */
  get exercises(): readonly ExerciseRow[] {
    return this.changes.flatMap((change) =>
      change.update.events
        .filter((event) => event._tag === 'ExercisedEvent')
        .map((event) => exerciseRow(event, change, this.templates)),
    );
  }

  #apply(change: ContractsChanged): void {
    const { added, removed, moved } = change;
    const nodes = removed.length === 0 ? undefined : archivingNodes(change);
    for (const contract of removed) {
      this.#edit(contract, { ...archivedIn(change), archived_node_id: nodes?.get(contract.contractId) });
      this.#active.delete(contract.contractId);
    }
    for (const contract of added) {
      const rows = rowsOf(contract, this.templates);
      this.#added.push(...rows);
      this.#active.set(contract.contractId, rows);
    }
    for (const { contract } of moved) this.#edit(contract, {});
  }

  /**
   * Changes the rows of a contract that are inserted with this batch, or else those in the table. The event of an
   * assignment creates nothing.
   */
  #edit(contract: AnyContract, archive: ArchiveColumns): void {
    const { contractId } = contract;
    const edit = { ...locationColumns(contract), ...archive };
    const rows = this.#active.get(contractId);
    if (rows === undefined) this.#edits.set(contractId, { contract_id: contractId, ...edit });
    else for (const row of rows) Object.assign(row, edit);
  }
}

const archivedIn = (change: ContractsChanged): ArchiveColumns => ({
  archived_at_offset: change.offset,
  archived_effective_at: effectiveAt(change),
});

/** Returns the nodes that archived contracts, by contract. */
const archivingNodes = ({ update }: ContractsChanged): ReadonlyMap<string, number> =>
  new Map(update.events.filter(isArchival).map((event): [string, number] => [event.contractId, event.nodeId]));

const isArchival = (
  event: Event | ReassignmentEvent,
): event is Extract<Event, { _tag: 'ArchivedEvent' }> | ExercisedEvent =>
  event._tag === 'ArchivedEvent' || (event._tag === 'ExercisedEvent' && event.consuming);
