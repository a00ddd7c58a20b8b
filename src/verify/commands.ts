import type { Create, Exercise } from '@canton-network/core-ledger-proto';
import type { Command, ExerciseCommand } from '../codecs/Command.js';
import { checkArgument } from './arguments.js';
import { refusal, type RootNode } from './transaction.js';

/**
 * Options of `preparedTransactionVerifier`.
 *
 * @category Verification
 */
export interface VerifierOptions {
  /**
   * What to do with a submission whose hashing scheme is not V2, the only scheme that the verifier can compute.
   *
   * `'refuse'` fails with a `VerificationError` whose reason is `'scheme'`. `'accept'` checks only the transaction, and
   * trusts the participant that the hash belongs to it: a dishonest participant can get another transaction signed.
   *
   * @defaultValue `'refuse'`
   */
  readonly unknownScheme?: 'refuse' | 'accept';
  /**
   * The maximum difference between the transaction's preparation time and this machine's clock, in milliseconds. A
   * transaction with a preparation time in the future could be executed later, when the ledger no longer detects the
   * duplicate.
   *
   * @defaultValue 3600000, an hour
   */
  readonly maxClockSkewMs?: number;
  /**
   * The package ids that a package name in a command may refer to.
   *
   * If you do not list a name, a template `#package-name:Module:Entity` matches any package of that name. If a command
   * names an interface by package name, you must list the package, because the transaction contains only its id.
   *
   * @defaultValue `{}`
   */
  readonly packages?: Readonly<Record<string, readonly string[]>>;
}

type Packages = NonNullable<VerifierOptions['packages']>;

/** Throws if the root nodes are not exactly the commands, in order. */
export function checkCommands(roots: readonly RootNode[], commands: readonly Command[], packages: Packages): void {
  const rest = [...roots];
  commands.forEach((command, index) => {
    checkCommand(() => rest.shift(), command, `commands[${index}]`, packages);
  });
  if (rest.length > 0) throw refusal('commands', 'it contains more than the requested commands');
}

function checkCommand(next: () => RootNode | undefined, command: Command, path: string, packages: Packages): void {
  if ('CreateCommand' in command) {
    const { templateId, createArguments } = command.CreateCommand;
    checkCreate(expectCreate(next(), path), { templateId, createArguments }, path, packages);
  } else if ('ExerciseCommand' in command) {
    checkExercise(expectExercise(next(), path), command.ExerciseCommand, path, packages);
  } else if ('CreateAndExerciseCommand' in command) {
    const { templateId, createArguments, choice, choiceArgument } = command.CreateAndExerciseCommand;
    const create = expectCreate(next(), path);
    checkCreate(create, { templateId, createArguments }, path, packages);
    const exercise = { templateId, contractId: create.contractId, choice, choiceArgument };
    checkExercise(expectExercise(next(), path), exercise, path, packages);
  } else {
    throw refusal('commands', 'a contract key cannot be compared', `${path}.contractKey`);
  }
}

function checkCreate(
  create: Create,
  requested: { readonly templateId: string; readonly createArguments: unknown },
  path: string,
  packages: Packages,
): void {
  checkTemplate(create, requested.templateId, `${path}.templateId`, packages);
  checkArgument(requested.createArguments, create.argument, `${path}.createArguments`);
}

/**
 * Throws if a node is of another template. If the choice belongs to an interface, the command names the interface, so
 * this compares the interface.
 */
function checkTemplate(node: Create | Exercise, requested: string, path: string, packages: Packages): void {
  const interfaceId = 'interfaceId' in node ? node.interfaceId : undefined;
  const given = interfaceId ?? node.templateId;
  const [packageRef = '', moduleName, entityName, ...more] = requested.split(':');
  if (given?.moduleName !== moduleName || given?.entityName !== entityName || more.length > 0) {
    throw refusal('commands', 'the template differs', path);
  }
  if (!packageRef.startsWith('#')) {
    if (given?.packageId !== packageRef) throw refusal('commands', 'the package of the template differs', path);
    return;
  }
  const name = packageRef.slice(1);
  const ids = Object.hasOwn(packages, name) ? packages[name] : undefined;
  if (interfaceId === undefined && node.packageName !== name) {
    throw refusal('commands', 'the package of the template differs', path);
  }
  if (interfaceId !== undefined && ids === undefined) {
    throw refusal('commands', 'the package of an interface cannot be compared by its name', path);
  }
  if (ids !== undefined && !ids.includes(given?.packageId ?? '')) {
    throw refusal('commands', 'the package of the template differs', path);
  }
}

function expectCreate(node: RootNode | undefined, path: string): Create {
  if (node?.kind !== 'create') throw refusal('commands', 'it does not create the requested contract', path);
  return node.create;
}

function checkExercise(exercise: Exercise, requested: ExerciseCommand, path: string, packages: Packages): void {
  checkTemplate(exercise, requested.templateId, `${path}.templateId`, packages);
  if (exercise.contractId !== requested.contractId)
    throw refusal('commands', 'the contract differs', `${path}.contractId`);
  if (exercise.choiceId !== requested.choice) throw refusal('commands', 'the choice differs', `${path}.choice`);
  checkArgument(requested.choiceArgument, exercise.chosenValue, `${path}.choiceArgument`);
}

function expectExercise(node: RootNode | undefined, path: string): Exercise {
  if (node?.kind !== 'exercise') throw refusal('commands', 'it does not exercise the requested choice', path);
  return node.exercise;
}
