import { concat, concatMap, map, type Observable } from 'rxjs';
import type { ContractsChanged } from '../../contracts/ContractChange.js';
import { ChangeBatch } from './ChangeBatch.js';
import { contractColumns, exerciseColumns, updateColumns } from './columns.js';
import { editContracts, insertRows, run, withKeys, type Writing, writeTemplates } from './statements.js';
import { TemplateList } from './TemplateList.js';

/** Writes changes in order: the same few statements, however many there are. */
export function writeChanges(writing: Writing, changes: readonly ContractsChanged[]): Observable<unknown> {
  const templates = new TemplateList(writing.nameTemplate);
  const { tx, names } = writing;
  const { added, edits, updates, exercises } = new ChangeBatch(changes, templates);
  return advance(writing, changes).pipe(
    concatMap((generation) =>
      writeTemplates(tx, names, templates).pipe(
        concatMap((keys) => {
          const contracts = withKeys(added, keys);
          return concat(
            editContracts(writing, edits),
            insertRows(writing, names.contracts, contractColumns, generation, contracts),
            insertRows(writing, names.updates, updateColumns, generation, updates),
            insertRows(writing, names.exercises, exerciseColumns, generation, withKeys(exercises, keys)),
          );
        }),
      ),
    ),
  );
}

/** Sets the offset of the last change, and emits the generation to which the changes belong. */
const advance = ({ tx, names }: Writing, changes: readonly ContractsChanged[]): Observable<number> => {
  const [first, last] = [changes.at(0)?.offset, changes.at(-1)?.offset];
  return run(
    tx,
    `UPDATE ${names.state} SET latest_offset = $2 WHERE loading IS NULL AND latest_offset < $1
    RETURNING visible[cardinality(visible)] AS generation`,
    [first, last],
  ).pipe(
    map(([row]) => {
      if (row === undefined)
        throw new Error(
          `the projection in the schema ${names.name} does not end before offset ${first ?? ''}: ` +
            'another processor writes it, or the cursor of this one is not of it',
        );
      return Number(row['generation']);
    }),
  );
};
