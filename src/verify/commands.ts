import type { Create, Exercise } from '@canton-network/core-ledger-proto';
import type { Command, ExerciseCommand } from '../codecs/Command.js';
import { checkArgument } from './arguments.js';
import { refusal, type RootNode } from './transaction.js';

/** What a verifier lets pass. */
export interface VerifierOptions {
  /**
   * What becomes of a submission whose hash is built by another scheme than V2, the only one that can be computed here.
   *
   * `'refuse'` is a `VerificationError` with the reason `'scheme'`. `'accept'` believes the participant that the hash is
   * that of the transaction, and checks the transaction alone: a participant that lies gets another one signed.
   *
   * @defaultValue `'refuse'`
   */
  readonly unknownScheme?: 'refuse' | 'accept';
  /**
   * By how much the time at which the transaction says it was prepared may differ from this machine's clock, in
   * milliseconds. One of the future could be executed later, when the ledger no longer looks for the same change.
   *
   * @defaultValue 3600000, an hour
   */
  readonly maxClockSkewMs?: number;
  /**
   * The package ids for which a package name may stand in a command.
   *
   * A template by name, `#package-name:Module:Entity`, fits any package of that name where the name is not here. An
   * interface by name has to be here: the transaction says only the id of its package.
   *
   * @defaultValue `{}`
   */
  readonly packages?: Readonly<Record<string, readonly string[]>>;
}

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

/**
 * Refuses a node of another template, or, where a choice of an interface was exercised, of another interface: then it is
 * the interface that a command names.
 */
function checkTemplate(
  node: Create | Exercise,
  asked: string,
  path: string,
  packages: NonNullable<VerifierOptions['packages']>,
): void {
  const interfaceId = 'interfaceId' in node ? node.interfaceId : undefined;
  const given = interfaceId ?? node.templateId;
  const [where = '', moduleName, entityName, ...more] = asked.split(':');
  if (given?.moduleName !== moduleName || given?.entityName !== entityName || more.length > 0) {
    throw refusal('commands', 'it is another template', path);
  }
  if (!where.startsWith('#')) {
    if (given?.packageId !== where) throw refusal('commands', 'it is a template of another package', path);
    return;
  }
  const name = where.slice(1);
  const ids = Object.hasOwn(packages, name) ? packages[name] : undefined;
  if (interfaceId === undefined && node.packageName !== name) {
    throw refusal('commands', 'it is a template of another package', path);
  }
  if (interfaceId !== undefined && ids === undefined) {
    throw refusal('commands', 'the package of an interface cannot be compared by its name', path);
  }
  if (ids !== undefined && !ids.includes(given?.packageId ?? '')) {
    throw refusal('commands', 'it is a template of another package', path);
  }
}

function createOf(node: RootNode | undefined, path: string): Create {
  if (node?.kind !== 'create') throw refusal('commands', 'it does not create what was asked for', path);
  return node.create;
}

function checkExercised(exercise: Exercise, asked: ExerciseCommand, path: string, packages: Packages): void {
  checkTemplate(exercise, asked.templateId, `${path}.templateId`, packages);
  if (exercise.contractId !== asked.contractId)
    throw refusal('commands', 'it is another contract', `${path}.contractId`);
  if (exercise.choiceId !== asked.choice) throw refusal('commands', 'it is another choice', `${path}.choice`);
  checkArgument(asked.choiceArgument, exercise.chosenValue, `${path}.choiceArgument`);
}

function exerciseOf(node: RootNode | undefined, path: string): Exercise {
  if (node?.kind !== 'exercise') throw refusal('commands', 'it does not exercise what was asked for', path);
  return node.exercise;
}
