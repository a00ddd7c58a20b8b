import type { Cursor } from '../decoding/Cursor.js';
import { readIdentifier } from '../decoding/readIdentifier.js';
import { refused } from '../errors/refused.js';
import type { Command } from './Command.js';

/** A command in wire form. There is no Daml engine here: of the choices, only `Archive` can be run. */
export function readCommand(cursor: Cursor): Command {
  const [kind, content] = cursor.oneOf();
  if (kind === 'CreateCommand') {
    const createArguments = content.required('createArguments').value;
    return { kind: 'create', templateId: readIdentifier(content.required('templateId')), createArguments };
  }
  if (kind === 'ExerciseCommand' && content.required('choice').string() === 'Archive') {
    const contractId = content.required('contractId').string();
    return { kind: 'archive', templateId: readIdentifier(content.required('templateId')), contractId };
  }
  throw refused('FAILED_TO_PREPARE_TRANSACTION', 'The sandbox runs CreateCommand and ExerciseCommand of Archive only');
}
