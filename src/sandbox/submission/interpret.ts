import type { Command } from '../../codecs/Command.js';
import type { Contract } from '../ledger/ContractHistory.js';
import type { Effect } from './effects.js';
import { type InterpretationContext, Interpreter } from './Interpreter.js';

/** What commands do, and the contracts that they use. */
interface Interpretation {
  readonly effects: readonly Effect[];
  readonly inputs: readonly Contract[];
}

/** Interprets the commands of a submission. Rejects commands that a participant's interpretation rejects. */
export function interpret(commands: readonly Command[], context: InterpretationContext): Interpretation {
  const interpreter = new Interpreter(context);
  const { root } = interpreter;
  for (const command of commands) {
    if ('CreateCommand' in command) {
      const { templateId, createArguments } = command.CreateCommand;
      root.create(templateId, createArguments);
    } else if ('CreateAndExerciseCommand' in command) {
      const { templateId, createArguments, choice, choiceArgument } = command.CreateAndExerciseCommand;
      const contractId = root.create(templateId, createArguments);
      root.exercise(templateId, contractId, choice, choiceArgument);
    } else if ('ExerciseByKeyCommand' in command) {
      const { templateId, contractKey, choice, choiceArgument } = command.ExerciseByKeyCommand;
      root.exerciseByKey(templateId, contractKey, choice, choiceArgument);
    } else {
      const { templateId, contractId, choice, choiceArgument } = command.ExerciseCommand;
      root.exercise(templateId, contractId, choice, choiceArgument);
    }
  }
  return { effects: interpreter.effects, inputs: [...interpreter.inputs.values()] };
}

/** The content of a prepared transaction. Times are in microseconds since the epoch. */
export interface PreparedSubmission {
  readonly commandId: string;
  readonly party: string;
  readonly synchronizerId: string;
  readonly preparationTime: number;
  readonly minLedgerTime: number | undefined;
  readonly maxRecordTime: number | undefined;
  readonly effect: Effect;
}
