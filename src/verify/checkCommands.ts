import type { Create, Exercise } from '@canton-network/core-ledger-proto';
import type { Command, ExerciseCommand } from '../codecs/Command.js';
import { checkArgument } from './checkArgument.js';
import { checkTemplate } from './checkTemplate.js';
import { refusal } from './refusal.js';
import type { RootNode } from './RootNode.js';
import type { VerifierOptions } from './VerifierOptions.js';

type Packages = NonNullable<VerifierOptions['packages']>;

/** Refuses root nodes that are not the commands, one by one and in their order. */
export function checkCommands(roots: readonly RootNode[], commands: readonly Command[], packages: Packages): void {
  const rest = [...roots];
  commands.forEach((command, index) => {
    checkCommand(() => rest.shift(), command, `commands[${index}]`, packages);
  });
  if (rest.length > 0) throw refusal('commands', 'it does more than was asked for');
}

function checkCommand(next: () => RootNode | undefined, command: Command, path: string, packages: Packages): void {
  if ('CreateCommand' in command) {
    const { templateId, createArguments } = command.CreateCommand;
    checkCreated(createOf(next(), path), { templateId, createArguments }, path, packages);
  } else if ('ExerciseCommand' in command) {
    checkExercised(exerciseOf(next(), path), command.ExerciseCommand, path, packages);
  } else if ('CreateAndExerciseCommand' in command) {
    const { templateId, createArguments, choice, choiceArgument } = command.CreateAndExerciseCommand;
    const create = createOf(next(), path);
    checkCreated(create, { templateId, createArguments }, path, packages);
    const exercise = { templateId, contractId: create.contractId, choice, choiceArgument };
    checkExercised(exerciseOf(next(), path), exercise, path, packages);
  } else {
    throw refusal('commands', 'the key of a contract cannot be compared', `${path}.contractKey`);
  }
}

function checkCreated(
  create: Create,
  asked: { readonly templateId: string; readonly createArguments: unknown },
  path: string,
  packages: Packages,
): void {
  checkTemplate(create, asked.templateId, `${path}.templateId`, packages);
  checkArgument(asked.createArguments, create.argument, `${path}.createArguments`);
}

function checkExercised(exercise: Exercise, asked: ExerciseCommand, path: string, packages: Packages): void {
  checkTemplate(exercise, asked.templateId, `${path}.templateId`, packages);
  if (exercise.contractId !== asked.contractId)
    throw refusal('commands', 'it is another contract', `${path}.contractId`);
  if (exercise.choiceId !== asked.choice) throw refusal('commands', 'it is another choice', `${path}.choice`);
  checkArgument(asked.choiceArgument, exercise.chosenValue, `${path}.choiceArgument`);
}

function createOf(node: RootNode | undefined, path: string): Create {
  if (node?.kind !== 'create') throw refusal('commands', 'it does not create what was asked for', path);
  return node.create;
}

function exerciseOf(node: RootNode | undefined, path: string): Exercise {
  if (node?.kind !== 'exercise') throw refusal('commands', 'it does not exercise what was asked for', path);
  return node.exercise;
}
