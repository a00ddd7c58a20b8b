import { concat, concatMap, type Observable } from 'rxjs';
import type { ContractsChanged } from '../../contracts/ContractChange.js';
import { ChangeBatch } from './ChangeBatch.js';
import {
  editContracts,
  insertContracts,
  insertExercises,
  insertTemplates,
  insertUpdates,
  run,
  type Writing,
} from './statements.js';
import { TemplateList } from './TemplateList.js';

/** Writes changes in order: the same few statements, however many there are. */
export function writeChanges(writing: Writing, changes: readonly ContractsChanged[]): Observable<unknown> {
  const templates = new TemplateList(writing.nameTemplate);
  const batch = new ChangeBatch(changes, templates);
  const { added, edits, updates, exercises } = batch;
  return advance(writing, changes).pipe(
    concatMap((generation) =>
      concat(
        insertTemplates(writing, templates),
        editContracts(writing, edits),
        insertContracts(writing, generation, added, templates),
        insertUpdates(writing, generation, updates),
        insertExercises(writing, generation, exercises, templates),
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
    concatMap(({ rows }: { readonly rows: readonly { readonly generation?: number }[] }) => {
      const [{ generation } = {}] = rows;
      if (generation === undefined)
        throw new Error(
          `the projection in the schema ${names.name} does not end before offset ${first ?? ''}: ` +
            'another processor writes it, or the cursor of this one is not of it',
        );
      return [generation];
    }),
  );
};
