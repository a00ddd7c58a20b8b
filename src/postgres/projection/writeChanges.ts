import { concat, concatMap, EMPTY, map, type Observable } from 'rxjs';
import type { ContractsChanged } from '../../contracts/ContractChange.js';
import { ChangeBatch } from './ChangeBatch.js';
import { contractColumns, exerciseColumns, updateColumns } from './columns.js';
import { cursorAt, removeGarbage, type Retain } from './history.js';
import { editContracts, insertRows, run, withKeys, type Writing, writeTemplates } from './statements.js';
import { TemplateList } from './TemplateList.js';

/** Writes changes in order: the same few statements, however many there are. */
export function writeChanges(
  writing: Writing,
  changes: readonly ContractsChanged[],
  retain: Retain,
): Observable<unknown> {
  const templates = new TemplateList(writing.nameTemplate);
  const { tx, names } = writing;
  const { added, edits, updates, exercises } = new ChangeBatch(changes, templates);
  return advance(writing, changes).pipe(
    concatMap(({ generation, hasGarbage }) =>
      concat(
        hasGarbage ? removeGarbage(writing) : EMPTY,
        writeTemplates(tx, names, templates).pipe(
          concatMap((keys) =>
            concat(
              editContracts(writing, edits),
              insertRows(writing, names.contracts, contractColumns, generation, withKeys(added, keys)),
              insertRows(writing, names.updates, updateColumns, generation, updates),
              insertRows(writing, names.exercises, exerciseColumns, generation, withKeys(exercises, keys)),
            ),
          ),
        ),
        retain(writing, changes.at(-1)?.recordTime ?? ''),
      ),
    ),
  );
}

/** What the state says of the changes that are written. */
interface Advanced {
  /** The generation to which they belong. */
  readonly generation: number;
  readonly hasGarbage: boolean;
}

/** Sets the offset of the last change. Fails if the changes do not follow what is in the projection. */
const advance = ({ tx, names }: Writing, changes: readonly ContractsChanged[]): Observable<Advanced> => {
  const [first, last] = [changes.at(0)?.offset, changes.at(-1)?.offset];
  return run(
    tx,
    `UPDATE ${names.state} SET latest_offset = $2, cursor_at = ${cursorAt} WHERE loading IS NULL AND latest_offset < $1
    RETURNING visible[cardinality(visible)] AS generation, cardinality(garbage) > 0 AS "hasGarbage"`,
    [first, last],
  ).pipe(
    map(([row]) => {
      if (row === undefined)
        throw new Error(
          `the projection in the schema ${names.name} does not end before offset ${first ?? ''}: ` +
            'another processor writes it, or it was replaced since the cursor was saved',
        );
      return { generation: Number(row['generation']), hasGarbage: row['hasGarbage'] === true };
    }),
  );
};
