import type * as t from 'io-ts';
import { json, text } from './internal/field.js';
import { exact } from './internal/message.js';
import { oneOfKeys } from './internal/variant.js';
import { TemplateId } from './scalars.js';

/**
 * Creates a contract.
 *
 * @inline
 */
interface CreateCommand {
  /** The template: `#package-name:Module:Entity` or `package-id:Module:Entity`. */
  readonly templateId: TemplateId;
  /** The contract's fields as Daml JSON, in which `Int` and `Decimal` are strings. */
  readonly createArguments: unknown;
}

/**
 * Exercises a choice on a contract.
 *
 * @inline
 */
export interface ExerciseCommand {
  /** The template: `#package-name:Module:Entity` or `package-id:Module:Entity`. */
  readonly templateId: TemplateId;
  /** The id of the contract. */
  readonly contractId: string;
  /** The name of the choice. Every template has `Archive`. */
  readonly choice: string;
  /** The argument as Daml JSON; `{}` if the choice has none. */
  readonly choiceArgument: unknown;
}

/**
 * Exercises a choice on the contract with a given key.
 *
 * @inline
 */
interface ExerciseByKeyCommand {
  /** The template: `#package-name:Module:Entity` or `package-id:Module:Entity`. */
  readonly templateId: TemplateId;
  /** The key as Daml JSON. */
  readonly contractKey: unknown;
  /** The name of the choice. */
  readonly choice: string;
  /** The argument as Daml JSON; `{}` if the choice has none. */
  readonly choiceArgument: unknown;
}

/**
 * Creates a contract and exercises a choice on it.
 *
 * @inline
 */
interface CreateAndExerciseCommand {
  /** The template: `#package-name:Module:Entity` or `package-id:Module:Entity`. */
  readonly templateId: TemplateId;
  /** The contract's fields as Daml JSON. */
  readonly createArguments: unknown;
  /** The name of the choice. */
  readonly choice: string;
  /** The argument as Daml JSON; `{}` if the choice has none. */
  readonly choiceArgument: unknown;
}

/**
 * A command of a submission, in wire format.
 *
 * @category Commands
 */
export type Command =
  | {
      /** Create a contract. */
      readonly CreateCommand: CreateCommand;
    }
  | {
      /** Exercise a choice. */
      readonly ExerciseCommand: ExerciseCommand;
    }
  | {
      /** Exercise a choice on the contract with a given key. */
      readonly ExerciseByKeyCommand: ExerciseByKeyCommand;
    }
  | {
      /** Create a contract and exercise a choice on it. */
      readonly CreateAndExerciseCommand: CreateAndExerciseCommand;
    };

/**
 * Codec of `Command`.
 *
 * @category Commands
 */
export const Command: t.Type<Command, unknown> = oneOfKeys<Command>('Command', {
  CreateCommand: exact<CreateCommand>('CreateCommand', { templateId: TemplateId, createArguments: json }),
  ExerciseCommand: exact<ExerciseCommand>('ExerciseCommand', {
    templateId: TemplateId,
    contractId: text,
    choice: text,
    choiceArgument: json,
  }),
  ExerciseByKeyCommand: exact<ExerciseByKeyCommand>('ExerciseByKeyCommand', {
    templateId: TemplateId,
    contractKey: json,
    choice: text,
    choiceArgument: json,
  }),
  CreateAndExerciseCommand: exact<CreateAndExerciseCommand>('CreateAndExerciseCommand', {
    templateId: TemplateId,
    createArguments: json,
    choice: text,
    choiceArgument: json,
  }),
});
