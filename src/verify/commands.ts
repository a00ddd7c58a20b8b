import type {
  Create,
  Exercise,
  GenMap_Entry,
  RecordField,
  TextMap_Entry,
  Value,
} from '@canton-network/core-ledger-proto';
import type { Command, ExerciseCommand } from '../codecs/Command.js';
import { isRecord } from '../codecs/internal/Codec.js';
import { VerificationError } from '../errors/submission.js';
import { isLargeInt, scalarEquals } from './scalars.js';
import { refusal, type RootNode } from './transaction.js';

/**
 * Options of `preparedTransactionVerifier`.
 *
 * @category Verification
 */
export interface VerifierOptions {
  /**
   * The handling of a submission whose hashing scheme is not V2, the only scheme that the verifier can compute.
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

/**
 * Throws if the JSON does not denote the value. The type of the value determines how to read the JSON, as the template
 * does on the ledger.
 */
function checkArgument(json: unknown, value: Value | undefined, path: string): void {
  const sum = value?.sum;
  switch (sum?.oneofKind) {
    case 'record':
      checkRecord(json, sum.record.fields, path);
      return;
    case 'optional':
      checkOptional(json, sum.optional.value, path);
      return;
    case 'variant':
      checkVariant(json, sum.variant, path);
      return;
    case 'list':
      checkList(json, sum.list.elements, path);
      return;
    case 'textMap':
      checkTextMap(json, sum.textMap.entries, path);
      return;
    case 'genMap':
      checkGenMap(json, sum.genMap.entries, path);
      return;
    case 'int64':
      if (isLargeInt({ sum })) throw refusal('hash', 'an Int beyond 2^53 - 1 cannot be verified', path);
      if (!scalarEquals(json, sum)) throw differs(path);
      return;
    default:
      if (sum === undefined || !scalarEquals(json, sum)) throw differs(path);
  }
}

const differs = (path: string) => refusal('commands', 'a value differs', path);

/**
 * Checks a record. Its JSON has the fields by label or, in a list, by position. A field that is absent on either side
 * is `None`: the ledger drops trailing fields that are `None`, and fields that an older version of the template lacks.
 */
function checkRecord(json: unknown, fields: readonly RecordField[], path: string): void {
  if (Array.isArray(json)) checkByPosition(json, fields, path);
  else if (isRecord(json)) checkByLabel(json, fields, path);
  else throw differs(path);
}

function checkByPosition(json: readonly unknown[], fields: readonly RecordField[], path: string): void {
  fields.forEach(({ value }, index) => {
    checkArgument(json[index], value, `${path}[${index}]`);
  });
  if (json.slice(fields.length).some((extra) => extra !== null)) throw refusal('commands', 'a field is missing', path);
}

function checkByLabel(json: Readonly<Record<string, unknown>>, fields: readonly RecordField[], path: string): void {
  const labels = new Set(fields.map(({ label }) => label));
  if (labels.size < fields.length || labels.has('')) throw refusal('commands', 'its fields have no labels', path);
  for (const { label, value } of fields) {
    const isRequested = Object.hasOwn(json, label);
    // a label that is not in the request is text from the participant, which an error must not quote
    checkArgument(isRequested ? json[label] : undefined, value, isRequested ? `${path}.${label}` : path);
  }
  const missing = Object.entries(json).find(
    ([key, content]) => !labels.has(key) && content !== null && content !== undefined,
  );
  if (missing !== undefined) throw refusal('commands', 'a field is missing', path);
}

/**
 * Checks an optional. In JSON, `None` is `null` or absent. Inside another optional, `Some` is a list of one element,
 * and `None` an empty list.
 */
function checkOptional(json: unknown, content: Value | undefined, path: string): void {
  if (content === undefined) {
    if (json !== null && json !== undefined) throw differs(path);
  } else if (content.sum.oneofKind !== 'optional') {
    if (json === null || json === undefined) throw differs(path);
    checkArgument(json, content, path);
  } else {
    const hasContent = content.sum.optional.value !== undefined;
    if (!Array.isArray(json) || json.length !== (hasContent ? 1 : 0)) throw differs(path);
    if (hasContent) checkArgument(json[0], content, path);
  }
}

function checkVariant(json: unknown, variant: { constructor: string; value?: Value }, path: string): void {
  const isVariant = typeof json === 'object' && json !== null && 'tag' in json && 'value' in json;
  if (!isVariant || Object.keys(json).length !== 2 || json.tag !== variant.constructor) throw differs(path);
  checkArgument(json.value, variant.value, `${path}.value`);
}

function checkList(json: unknown, elements: readonly Value[], path: string): void {
  if (!Array.isArray(json) || json.length !== elements.length) throw differs(path);
  elements.forEach((element, index) => {
    checkArgument(json[index], element, `${path}[${index}]`);
  });
}

function checkTextMap(json: unknown, entries: readonly TextMap_Entry[], path: string): void {
  const keys = new Set(entries.map(({ key }) => key));
  if (!isRecord(json) || keys.size < entries.length || Object.keys(json).length !== keys.size) throw differs(path);
  entries.forEach(({ key, value }, index) => {
    if (!Object.hasOwn(json, key)) throw differs(path);
    checkArgument(json[key], value, `${path}[${index}]`);
  });
}

/** Checks key-value pairs in any order, because the ledger sorts them by key. */
function checkGenMap(json: unknown, entries: readonly GenMap_Entry[], path: string): void {
  if (!Array.isArray(json) || json.length !== entries.length) throw differs(path);
  const rest = [...entries];
  json.forEach((pair: unknown, index) => {
    if (!Array.isArray(pair) || pair.length !== 2) throw differs(path);
    const found = rest.findIndex(({ key }) => matches(pair[0], key, path));
    const [entry] = found === -1 ? [] : rest.splice(found, 1);
    if (entry === undefined) throw differs(path);
    checkArgument(pair[1], entry.value, `${path}[${index}][1]`);
  });
}

function matches(json: unknown, value: Value | undefined, path: string): boolean {
  try {
    checkArgument(json, value, path);
    return true;
  } catch (error) {
    // another entry may match, unless this one cannot be verified at all
    if (error instanceof VerificationError && error.reason !== 'hash') return false;
    throw error;
  }
}
