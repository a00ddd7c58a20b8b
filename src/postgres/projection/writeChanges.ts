import { concat, concatMap, defer, EMPTY, type Observable } from 'rxjs';
import type { ContractsChanged } from '../../contracts/ContractChange.js';
import { ChangeBatch } from './ChangeBatch.js';
import { removeGarbage, type Retain } from './history.js';
import { maxPartSize, sizeOf } from './parts.js';
import { run, type Writing } from './statements.js';
import { TemplateList } from './TemplateList.js';
import { toJsonParameter } from './toJson.js';

/** Writes changes in order, with one statement unless they are large. */
export const writeChanges = (
  writing: Writing,
  changes: readonly ContractsChanged[],
  retain: Retain,
): Observable<unknown> => concat(write(writing, changes), retain(writing, changes.at(-1)?.recordTime ?? ''));

function write(writing: Writing, changes: readonly ContractsChanged[]): Observable<unknown> {
  const { tx, names, nameTemplate } = writing;
  const templates = new TemplateList(nameTemplate);
  const { added, edits, updates, exercises } = new ChangeBatch(changes, templates);
  if (changes.length > 1 && sum([...added, ...exercises].map(sizeOf)) > maxPartSize) {
    const half = Math.ceil(changes.length / 2);
    return concat(
      defer(() => write(writing, changes.slice(0, half))),
      defer(() => write(writing, changes.slice(half))),
    );
  }
  const work = {
    first: changes.at(0)?.offset,
    last: changes.at(-1)?.offset,
    templates: templates.rows,
    contracts: added,
    edits,
    updates,
    exercises,
  };
  return run(tx, `SELECT ${names.schema}.projection_write($1) AS "hasGarbage"`, [toJsonParameter(work)]).pipe(
    concatMap(([row]) => (row?.['hasGarbage'] === true ? removeGarbage(writing) : EMPTY)),
  );
}

const sum = (sizes: readonly number[]): number => sizes.reduce((all, size) => all + size, 0);
