import type { Create, Exercise, Fetch } from '@canton-network/core-ledger-proto';
import { checkValue } from './checkValue.js';
import { isContractId } from './isContractId.js';
import { refusal } from './refusal.js';
import type { NodeType } from './RootNode.js';

/** Refuses a node that is not whole. @returns the nodes below it */
export function checkNode(type: NodeType): readonly string[] {
  switch (type.oneofKind) {
    case 'create':
      checkCreate(type.create);
      return [];
    case 'exercise':
      checkExercise(type.exercise);
      return type.exercise.children;
    case 'fetch':
      checkContract(type.fetch);
      return [];
    case 'rollback':
      return type.rollback.children;
    default:
      throw refusal('undecodable', 'it has a node of an unknown kind');
  }
}

/** Refuses a contract that is not whole. */
export function checkCreate(create: Create): void {
  checkContract(create);
  checkValue(create.argument);
}

function checkExercise(exercise: Exercise): void {
  checkContract(exercise);
  checkValue(exercise.chosenValue);
  if (exercise.exerciseResult !== undefined) checkValue(exercise.exerciseResult);
}

function checkContract({ contractId, templateId }: Create | Exercise | Fetch): void {
  if (!isContractId(contractId) || templateId === undefined) {
    throw refusal('undecodable', 'it has a contract without id or template');
  }
}
