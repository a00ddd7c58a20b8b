import type { Command } from './Command.js';
import type { ArgumentOf, ChoiceType, CreatableType, PayloadOf } from './ContractType.js';

/**
 * Returns the command that creates a contract of a template, for `submit` and `prepare`.
 *
 * @param type - a template, from Daml's code generator or from `contractType`
 * @param payload - the arguments
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
export const create = <C extends CreatableType>(type: C, payload: PayloadOf<C>): Command => ({
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
export const exercise = <C extends ChoiceType>(choice: C, contractId: string, argument: ArgumentOf<C>): Command => ({
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
  payload: PayloadOf<C>,
  choice: D,
  argument: ArgumentOf<D>,
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
