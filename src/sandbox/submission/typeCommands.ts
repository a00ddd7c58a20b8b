import type { Command } from '../../codecs/Command.js';
import type { DecodeFailure } from '../../codecs/ContractType.js';
import { isRecord } from '../../codecs/internal/Codec.js';
import { jsonLayerError, requestError, type RequestError } from '../errors.js';
import type { Packages } from '../ledger/Packages.js';
import { type Fields, parseIdentifier } from '../prepared/types.js';
import { recordValue, valueToJson } from '../prepared/values.js';
import type { Models } from '../templates/Models.js';
import { unknownChoice } from './interpretationErrors.js';

/** The templates by which commands are checked. */
interface Types {
  readonly packages: Packages;
  readonly models: Models;
  /** The ids of packages that their names select, instead of those of the newest versions. */
  readonly preferred: readonly string[];
}

/**
 * Checks the arguments of commands against their templates, and brings them into the form of responses: for example, an
 * absent optional field is `null`, unless it is the last one. The arguments of templates that the sandbox does not know only
 * need to be records.
 */
export const typeCommands = (commands: readonly Command[], types: Types): readonly Command[] =>
  commands.map((command): Command => {
    if ('ExerciseByKeyCommand' in command)
      return { ExerciseByKeyCommand: typeArgument(command.ExerciseByKeyCommand, types) };
    if ('CreateCommand' in command) return { CreateCommand: typePayload(command.CreateCommand, types) };
    if ('ExerciseCommand' in command) return { ExerciseCommand: typeArgument(command.ExerciseCommand, types) };
    const typed = typePayload(command.CreateAndExerciseCommand, types);
    return { CreateAndExerciseCommand: typeArgument(typed, types) };
  });

type Create = Extract<Command, { readonly CreateCommand: unknown }>['CreateCommand'];

function typePayload<C extends Create>(command: C, { packages, models, preferred }: Types): C {
  const template = packages.resolve(command.templateId, 'template', preferred);
  return { ...command, createArguments: typeRecord(command.createArguments, models.of(template), template.id) };
}

type Exercise = Omit<Extract<Command, { readonly ExerciseCommand: unknown }>['ExerciseCommand'], 'contractId'>;

function typeArgument<C extends Exercise>(command: C, { packages, models, preferred }: Types): C {
  const { templateId: typeId, choice, choiceArgument } = command;
  const isInterface = packages.has(typeId, 'interface') && !packages.has(typeId, 'template');
  const type = packages.resolve(typeId, isInterface ? 'interface' : 'template', preferred);
  const { id } = type;
  const model = isInterface ? models.findInterfaceChoice(typeId, choice) : models.findChoice(type, id, choice);
  if (model === undefined) throw unknownChoice(choice, id);
  return { ...command, choiceArgument: typeRecord(choiceArgument, model, id) };
}

/** The type of a record. */
interface RecordType {
  readonly fields?: Fields | undefined;
  readonly check: (json: unknown) => DecodeFailure | undefined;
  /** The fields that only later versions of the type have. */
  readonly laterFields?: readonly string[] | undefined;
}

/** Checks the arguments of a template or a choice, and brings them into the form of responses. */
export function typeRecord(json: unknown, { fields, check, laterFields = [] }: RecordType, id: string): unknown {
  const unexpected = laterFields.filter((label) => isRecord(json) && Object.hasOwn(json, label));
  if (unexpected.length > 0)
    throw jsonLayerError(400, 'INVALID_ARGUMENT', `Unexpected fields: ${unexpected.join(', ')}`);
  const typed = valueToJson(recordValue(storableTexts(json), fields, parseIdentifier(id)));
  const failure = check(typed);
  if (failure !== undefined) throw decodeError(typed, failure);
  return typed;
}

/** Texts as a participant stores them: it refuses the character NUL, and replaces the half of a surrogate pair. */
function storableTexts(json: unknown): unknown {
  if (typeof json === 'string') {
    if (json.includes('\0')) throw requestError('MALFORMED_TEXT', 'A text must not contain the character NUL');
    return json.replaceAll(/[\ud800-\udfff]/gu, '?');
  }
  if (Array.isArray(json)) return json.map(storableTexts);
  if (!isRecord(json)) return json;
  // a key may be one of a map
  return Object.fromEntries(Object.entries(json).map((entry) => entry.map(storableTexts) as [string, unknown]));
}

/** The error of a value that its type does not accept. Participants distinguish an absent field from one with a wrong value. */
function decodeError(json: unknown, { at = '', message = '' }: DecodeFailure): RequestError {
  const keys = at.split('.').filter((key) => key !== 'input');
  const value = keys.reduce<unknown>((inner, key) => valueAt(inner, key), json);
  if (value === undefined && at !== '')
    return jsonLayerError(
      400,
      'COMMAND_PREPROCESSING_FAILED',
      `Missing non-optional fields: Set(${keys.at(-1) ?? ''})`,
    );
  return jsonLayerError(400, 'INVALID_ARGUMENT', `The value at '${at}' is not valid: ${message}`);
}

/** The value at a key. In the paths of io-ts, the members of unions and intersections have numbers. */
function valueAt(json: unknown, key: string): unknown {
  if (Array.isArray(json)) return (json as readonly unknown[])[Number(key)];
  const isMember = /^\d+$/.test(key) && !(isRecord(json) && key in json);
  return isMember || !isRecord(json) ? json : json[key];
}
