import type * as t from 'io-ts';
import { json, text } from './internal/field.js';
import { exact } from './internal/message.js';
import { oneOfKeys } from './internal/variant.js';
import { TemplateId } from './scalars.js';

/**
 * Creates a contract.
 *
 * @category Commands
 */
export interface CreateCommand {
  /** `#package-name:Module:Entity` or with the package id. */
  readonly templateId: TemplateId;
  /** The contract's fields as Daml JSON, in which `Int` and `Decimal` are strings. */
  readonly createArguments: unknown;
}

/**
 * Exercises a choice of a contract.
 *
 * @category Commands
 */
export interface ExerciseCommand {
  /** `#package-name:Module:Entity` or with the package id. */
  readonly templateId: TemplateId;
  /** The contract. */
  readonly contractId: string;
  /** The choice; every template has `Archive`. */
  readonly choice: string;
  /** The argument as Daml JSON; `{}` for none. */
  readonly choiceArgument: unknown;
}

/**
 * Exercises a choice of the contract with a key.
 *
 * @category Commands
 */
export interface ExerciseByKeyCommand {
  /** `#package-name:Module:Entity` or with the package id. */
  readonly templateId: TemplateId;
  /** The key as Daml JSON. */
  readonly contractKey: unknown;
  /** The choice. */
  readonly choice: string;
  /** The argument as Daml JSON; `{}` for none. */
  readonly choiceArgument: unknown;
}

/**
 * Creates a contract and exercises a choice of it.
 *
 * @category Commands
 */
export interface CreateAndExerciseCommand {
  /** `#package-name:Module:Entity` or with the package id. */
  readonly templateId: TemplateId;
  /** The contract's fields as Daml JSON. */
  readonly createArguments: unknown;
  /** The choice. */
  readonly choice: string;
  /** The argument as Daml JSON; `{}` for none. */
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
      /** Exercise a choice of the contract with a key. */
      readonly ExerciseByKeyCommand: ExerciseByKeyCommand;
    }
  | {
      /** Create a contract and exercise a choice of it. */
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
