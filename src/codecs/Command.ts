import type * as t from 'io-ts';
import type { ChoiceType, CreatableType } from './ContractType.js';
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

/**
 * Returns the command that creates a contract of a template, for `submit` and `prepare`.
 *
 * @param type - a template, from Daml's code generator or from `contractType`
 * @param payload - the arguments: what the type encodes. For a schema, its input
 * @example
 * ```ts
 * import { contractType, create, type PrepareRequest } from 'canton-rx';
 * import * as t from 'io-ts';
 *
 * const Iou = contractType('#finance:Main:Iou', t.type({ owner: t.string, amount: t.string }));
 *
 * const request: PrepareRequest = {
 *   commandId: 'iou-4711',
 *   actAs: ['alice::1220ab'],
 *   commands: [create(Iou, { owner: 'alice::1220ab', amount: '10.0' })],
 * };
 * ```
 * @category Commands
 */
export const create = <C extends CreatableType>(type: C, payload: Parameters<C['encode']>[0]): Command => ({
  CreateCommand: { templateId: type.templateId, createArguments: type.encode(payload) },
});

/**
 * Returns the command that exercises a choice on a contract, for `submit` and `prepare`. A choice of an interface can
 * be exercised on a contract of any template that implements the interface.
 *
 * @param choice - a choice of a template or an interface
 * @param contractId - the id of the contract
 * @param argument - the argument; `{}` if the choice has none
 * @example
 * ```ts
 * import { contractType, exercise } from 'canton-rx';
 * import * as t from 'io-ts';
 *
 * const Iou = contractType('#finance:Main:Iou', t.type({ owner: t.string, amount: t.string }), {
 *   choices: { Transfer: { argument: t.type({ newOwner: t.string }) } },
 * });
 *
 * exercise(Iou.Transfer, '00ab', { newOwner: 'bob::1220cd' });
 * exercise(Iou.Archive, '00ab', {});
 * ```
 * @category Commands
 */
export const exercise = <C extends ChoiceType>(
  choice: C,
  contractId: string,
  argument: Parameters<C['argumentEncode']>[0],
): Command => ({
  ExerciseCommand: {
    templateId: choice.template().templateId,
    contractId,
    choice: choice.choiceName,
    choiceArgument: choice.argumentEncode(argument),
  },
});

/**
 * Returns the command that creates a contract of a template and exercises a choice on it, for `submit` and `prepare`.
 *
 * @param type - a template
 * @param payload - the arguments
 * @param choice - a choice of the template; the ledger does not support choices of an interface here
 * @param argument - the argument of the choice; `{}` if it has none
 * @throws TypeError if the choice does not belong to the template
 * @example
 * ```ts
 * import { contractType, createAndExercise } from 'canton-rx';
 * import * as t from 'io-ts';
 *
 * const Iou = contractType('#finance:Main:Iou', t.type({ owner: t.string, amount: t.string }), {
 *   choices: { Transfer: { argument: t.type({ newOwner: t.string }) } },
 * });
 *
 * createAndExercise(Iou, { owner: 'alice::1220ab', amount: '10.0' }, Iou.Transfer, { newOwner: 'bob::1220cd' });
 * ```
 * @category Commands
 */
export function createAndExercise<C extends CreatableType, D extends ChoiceType>(
  type: C,
  payload: Parameters<C['encode']>[0],
  choice: D,
  argument: Parameters<D['argumentEncode']>[0],
): Command {
  const { templateId } = type;
  if (choice.template().templateId !== templateId) {
    throw new TypeError(`${choice.choiceName} is not a choice of ${templateId}`);
  }
  return {
    CreateAndExerciseCommand: {
      templateId,
      createArguments: type.encode(payload),
      choice: choice.choiceName,
      choiceArgument: choice.argumentEncode(argument),
    },
  };
}
