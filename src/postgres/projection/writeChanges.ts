import { concat, concatMap, EMPTY, type Observable } from 'rxjs';
import type { ContractsChanged } from '../../contracts/ContractChange.js';
import { ChangeBatch } from './ChangeBatch.js';
import { removeGarbage, type Retain } from './history.js';
import { run, type Writing } from './statements.js';
import { TemplateList } from './TemplateList.js';
import { toJsonParameter } from './toJson.js';

/** Writes changes in order: one statement, however many there are. */
export function writeChanges(
  writing: Writing,
  changes: readonly ContractsChanged[],
  retain: Retain,
): Observable<unknown> {
  const { tx, names, nameTemplate } = writing;
  const templates = new TemplateList(nameTemplate);
  const { added, edits, updates, exercises } = new ChangeBatch(changes, templates);
  const work = {
    first: changes.at(0)?.offset,
    last: changes.at(-1)?.offset,
    templates: templates.rows,
    contracts: added,
    edits,
    updates,
    exercises,
  };
  return concat(
    run(tx, `SELECT ${names.schema}.projection_write($1) AS "hasGarbage"`, [toJsonParameter(work)]).pipe(
      concatMap(([row]) => (row?.['hasGarbage'] === true ? removeGarbage(writing) : EMPTY)),
    ),
    retain(writing, changes.at(-1)?.recordTime ?? ''),
  );
}
