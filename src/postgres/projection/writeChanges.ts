import { concat, concatMap, defer, EMPTY, type Observable } from 'rxjs';
import type { ExercisedEvent, TransactionEvent } from '../../codecs/Event.js';
import type { ReassignmentEvent } from '../../codecs/Reassignment.js';
import type { AnyContract } from '../../contracts/Contract.js';
import type { ContractsUpdated } from '../../contracts/ContractChange.js';
import { run } from '../connection.js';
import { type Columns, namesOf, type Row, rowsFrom, toJsonParameter } from './tables.js';
import { removeGarbage, type Retain } from './history.js';
import {
  type ContractRow,
  effectiveAt,
  exerciseRow,
  locationColumns,
  maxPartSize,
  rowsOf,
  sizeOf,
  updateRow,
} from './rows.js';
import {
  byId,
  contractColumns,
  exerciseColumns,
  isActive,
  isOwner,
  type ProjectionSchema,
  replaced,
  updateColumns,
} from './tables.js';
import { TemplateList, type Writing } from './templates.js';

/** Writes changes in order, with one statement unless they are large. */
export const writeChanges = (
  writing: Writing,
  changes: readonly ContractsUpdated[],
  retain: Retain,
): Observable<unknown> => concat(write(writing, changes), retain(writing, changes.at(-1)?.recordTime ?? ''));

function write(writing: Writing, changes: readonly ContractsUpdated[]): Observable<unknown> {
  const { tx, names, nameTemplate } = writing;
  const templates = new TemplateList(nameTemplate);
  const rows = rowsOfChanges(changes, templates);
  if (changes.length > 1 && sum([...rows.contracts, ...rows.exercises].map(sizeOf)) > maxPartSize) {
    const half = Math.ceil(changes.length / 2);
    return concat(
      defer(() => write(writing, changes.slice(0, half))),
      defer(() => write(writing, changes.slice(half))),
    );
  }
  const work = { first: changes.at(0)?.offset, last: changes.at(-1)?.offset, templates: templates.rows, ...rows };
  return run(tx, `SELECT ${names.schema}.projection_write($1) AS "hasGarbage"`, [toJsonParameter(work)]).pipe(
    concatMap(([row]) => (row?.['hasGarbage'] === true ? removeGarbage(writing) : EMPTY)),
  );
}

const sum = (sizes: readonly number[]): number => sizes.reduce((all, size) => all + size, 0);

/** The rows of several updates: each is written once, however many of the updates changed it. */
function rowsOfChanges(changes: readonly ContractsUpdated[], templates: TemplateList) {
  const contracts: ContractRow[] = [];
  /** The rows to insert for contracts that are active. */
  const active = new Map<string, ContractRow[]>();
  /** The changes to contracts that are in the table. */
  const edits = new Map<string, Row<typeof editColumns>>();
  // changes the rows that are inserted with this batch, or else those in the table. An assignment creates nothing
  const edit = (contract: AnyContract, archive: Partial<ContractRow> = {}): void => {
    const { contractId } = contract;
    const edited = { ...locationColumns(contract), ...archive };
    const rows = active.get(contractId);
    if (rows === undefined) edits.set(contractId, { contract_id: contractId, ...edited });
    else for (const row of rows) Object.assign(row, edited);
  };
  for (const change of changes) {
    const { offset, added, removed, moved } = change;
    const nodes = removed.length === 0 ? undefined : archivingNodes(change);
    for (const contract of removed) {
      const { contractId } = contract;
      const archived_effective_at = effectiveAt(change);
      edit(contract, { archived_at_offset: offset, archived_node_id: nodes?.get(contractId), archived_effective_at });
      active.delete(contractId);
    }
    for (const contract of added) {
      const rows = rowsOf(contract, templates);
      contracts.push(...rows);
      active.set(contract.contractId, rows);
    }
    for (const { contract } of moved) edit(contract);
  }
  const exercises = changes.flatMap((change) =>
    change.update.events
      .filter((event) => event._tag === 'ExercisedEvent')
      .map((event) => exerciseRow(event, change, templates)),
  );
  return { contracts, edits: [...edits.values()], updates: changes.map(updateRow), exercises };
}

/** The columns of a change to a contract in the table, which was moved or archived. */
const editColumns = {
  contract_id: contractColumns.contract_id,
  synchronizer_id: contractColumns.synchronizer_id,
  in_flight_to: contractColumns.in_flight_to,
  reassignment_counter: contractColumns.reassignment_counter,
  archived_at_offset: contractColumns.archived_at_offset,
  archived_node_id: contractColumns.archived_node_id,
  archived_effective_at: contractColumns.archived_effective_at,
};

/** Returns the nodes that archived contracts, by contract. */
const archivingNodes = ({ update }: ContractsUpdated): ReadonlyMap<string, number> =>
  new Map(update.events.filter(isArchival).map((event): [string, number] => [event.contractId, event.nodeId]));

const isArchival = (
  event: TransactionEvent | ReassignmentEvent,
): event is Extract<TransactionEvent, { _tag: 'ArchivedEvent' }> | ExercisedEvent =>
  event._tag === 'ArchivedEvent' || (event._tag === 'ExercisedEvent' && event.consuming);

/** Writes changes, and returns whether there are rows to remove that no reader sees. */
export const changesFunction = (names: ProjectionSchema): string => {
  const { schema, name, state, contracts, updates, exercises } = names;
  const insert = (table: string, part: string, columns: Columns): string => {
    const { template_pk, ...others } = columns;
    const keyed = template_pk === undefined ? '' : 'template_pk, ';
    const isContract = columns === contractColumns;
    const shifts = isContract ? 'created_shift, archived_shift' : 'shift';
    const shift = isContract
      ? 'current_shift, CASE WHEN archived_at_offset IS NOT NULL THEN current_shift END'
      : 'current_shift';
    return `
  IF work -> '${part}' <> '[]' THEN
    INSERT INTO ${table} (generation, ${keyed}${namesOf(others)}, ${shifts})
      SELECT current_generation, ${template_pk === undefined ? '' : 'keys[r.template_pk + 1], '}${namesOf(others)}, ${shift}
      FROM ${rowsFrom(`work -> '${part}'`, columns)} AS r;
  END IF;`;
  };
  return `
CREATE OR REPLACE FUNCTION ${schema}.projection_write(work jsonb) RETURNS boolean LANGUAGE plpgsql ${byId} AS $body$
DECLARE
  current_generation int;
  has_garbage boolean;
  keys int[];
  missing bigint;
  current_shift bigint;
BEGIN
  UPDATE ${state} SET latest_offset = (work ->> 'last')::bigint
    WHERE ${isOwner} AND loading IS NULL AND latest_offset < (work ->> 'first')::bigint
    RETURNING visible[cardinality(visible)], cardinality(garbage) > 0, nullif(shift, 0)
    INTO current_generation, has_garbage, current_shift;
  IF NOT FOUND THEN
    -- a feed that continues at another participant, whose updates have lower offsets
    -- locked first: what begins the epoch is evaluated before the update locks the row
    PERFORM FROM ${state} FOR UPDATE;
    UPDATE ${state} s SET latest_offset = (work ->> 'last')::bigint,
      shift = ${schema}.projection_begin_epoch((work ->> 'first')::bigint)
      WHERE ${isOwner} AND loading IS NULL AND latest_offset IS NOT NULL AND NOT EXISTS (
        SELECT FROM ${rowsFrom(`work -> 'updates'`, updateColumns)} AS r JOIN ${updates} u
          ON u.effective_at = r.effective_at AND u.update_id = r.update_id WHERE u.generation = ANY (s.visible))
      RETURNING visible[cardinality(visible)], cardinality(garbage) > 0, shift
      INTO current_generation, has_garbage, current_shift;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'the projection in the schema ${name} does not end before offset %: ${replaced}', work ->> 'first';
    END IF;
  END IF;
  IF work -> 'templates' <> '[]' THEN
    keys := ${schema}.projection_templates_of(work -> 'templates');
  END IF;
  IF work -> 'edits' <> '[]' THEN
    WITH edited AS (
      UPDATE ${contracts} c SET
        synchronizer_id = e.synchronizer_id, in_flight_to = e.in_flight_to,
        reassignment_counter = e.reassignment_counter, archived_at_offset = e.archived_at_offset,
        archived_shift = CASE WHEN e.archived_at_offset IS NOT NULL THEN current_shift END,
        archived_node_id = e.archived_node_id, archived_effective_at = e.archived_effective_at
      FROM ${rowsFrom(`work -> 'edits'`, editColumns)} AS e
      WHERE c.contract_id = e.contract_id AND ${isActive(names)}
      RETURNING c.contract_id
    )
    SELECT jsonb_array_length(work -> 'edits') - count(DISTINCT contract_id) INTO missing FROM edited;
    -- a projection that has lost a contract may have lost others
    IF missing <> 0 THEN
      RAISE EXCEPTION '% contracts that were moved or archived are not in the projection', missing;
    END IF;
  END IF;
  ${insert(contracts, 'contracts', contractColumns)}
  ${insert(updates, 'updates', updateColumns)}
  ${insert(exercises, 'exercises', exerciseColumns)}
  RETURN has_garbage;
END $body$;`;
};
