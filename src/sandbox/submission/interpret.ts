import { randomUUID } from 'node:crypto';
import type { Command } from '../../codecs/Command.js';
import { isRecord } from '../../codecs/internal/Codec.js';
import { cantonError, invalidArgument, RequestError, requestError } from '../errors.js';
import type { Contract } from '../ledger/ContractHistory.js';
import type { Packages } from '../ledger/Packages.js';
import { invalidField } from '../requests/decode.js';
import { type Fields, findChoiceType, findTemplateType, parseIdentifier } from '../prepared/types.js';
import { recordValue, valueToJson } from '../prepared/values.js';
import { sha256 } from '../wire/values.js';
import { stakeholdersOf, type TemplateRef, type WireCreatedEvent } from '../wire/WireUpdate.js';

/**
 * Checks the arguments of commands against their templates, and brings them into the form of responses: for example, an
 * absent optional field is `null`, unless it is the last one. The arguments of templates that are not built in only need
 * to be records.
 */
export const typeCommands = (commands: readonly Command[], packages: Packages): readonly Command[] =>
  commands.map((command): Command => {
    if ('ExerciseByKeyCommand' in command) return command;
    if ('CreateCommand' in command) return { CreateCommand: typePayload(command.CreateCommand, packages) };
    if ('ExerciseCommand' in command) return { ExerciseCommand: typeArgument(command.ExerciseCommand, packages) };
    const typed = typePayload(command.CreateAndExerciseCommand, packages);
    return { CreateAndExerciseCommand: typeArgument(typed, packages) };
  });

type Create = Extract<Command, { readonly CreateCommand: unknown }>['CreateCommand'];

function typePayload<C extends Create>(command: C, packages: Packages): C {
  const template = packages.resolve(command.templateId);
  const createArguments = typeRecord(command.createArguments, findTemplateType(template).fields, template);
  return { ...command, createArguments };
}

type Exercise = Omit<Extract<Command, { readonly ExerciseCommand: unknown }>['ExerciseCommand'], 'contractId'>;

function typeArgument<C extends Exercise>(command: C, packages: Packages): C {
  const template = packages.resolve(command.templateId);
  const type = findChoiceType(template, command.choice);
  if (type === undefined) throw unknownChoice(command.choice, template.id);
  return { ...command, choiceArgument: typeRecord(command.choiceArgument, type.fields, template) };
}

const typeRecord = (json: unknown, fields: Fields | undefined, { id }: TemplateRef): unknown =>
  valueToJson(recordValue(json, fields, parseIdentifier(id)));

/** What commands do, and the contracts that they use. */
interface Interpretation {
  readonly effects: readonly Effect[];
  readonly inputs: readonly Contract[];
}

/** The ledger as the acting parties see it. */
interface InterpretationContext {
  readonly actAs: readonly string[];
  readonly packages: Packages;
  /** Finds the contract with an id. */
  readonly findContract: (contractId: string) => Contract | undefined;
}

/** Interprets the commands of a submission. Rejects commands that a participant's interpretation rejects. */
export function interpret(commands: readonly Command[], context: InterpretationContext): Interpretation {
  const inputs = new Map<string, Contract>();
  const consumed = new Set<string>();
  const exercise = (contract: ContractFields, command: Exercise): Exercised => {
    const { contractId } = contract;
    if (consumed.has(contractId)) throw contractError('CONTRACT_NOT_ACTIVE', 'Contract is not active', contractId);
    const effect = exerciseOf(contract, command, context.actAs);
    if (effect.isConsuming) consumed.add(contractId);
    return effect;
  };
  const effects = commands.flatMap((command): readonly Effect[] => {
    if ('CreateCommand' in command) return [creationOf(command.CreateCommand, context)];
    if ('CreateAndExerciseCommand' in command) {
      const creation = creationOf(command.CreateAndExerciseCommand, context);
      const { id: templateId, packageName } = creation.template;
      return [creation, exercise({ ...creation, templateId, packageName }, command.CreateAndExerciseCommand)];
    }
    if ('ExerciseByKeyCommand' in command)
      throw requestError('COMMAND_PREPROCESSING_FAILED', 'The sandbox does not support contract keys');
    const { contractId, templateId } = command.ExerciseCommand;
    const input = context.findContract(contractId);
    if (input === undefined) throw notFound(contractId);
    if (!context.packages.matches(templateId, input.created.templateId)) {
      throw requestError('WRONGLY_TYPED_CONTRACT', `Contract ${contractId} is of template ${input.created.templateId}`);
    }
    inputs.set(contractId, input);
    return [exercise(input.created, command.ExerciseCommand)];
  });
  return { effects, inputs: [...inputs.values()] };
}

/** The error of an id that no contract has. Participants check the form of an id and the version in it first. */
function notFound(contractId: string): RequestError {
  const suffix = /^00[0-9a-f]{64}((?:[0-9a-f]{2}){0,94})$/.exec(contractId)?.[1];
  if (suffix === undefined) return invalidField(`contract_id: cannot parse ContractId "${contractId}"`);
  if (!/^ca1[012]/.test(suffix)) return new RequestError(500, cantonError('NA', { grpcCodeValue: 13 }));
  return contractError('CONTRACT_NOT_FOUND', 'Contract could not be found with id', contractId);
}

const contractError = (code: string, cause: string, contractId: string) =>
  requestError(code, `${cause} ${contractId}`, { resources: [['ErrorResource(CONTRACT_ID)', contractId]] });

/** What a choice needs to know of its contract, which may be of the same transaction. */
type ContractFields = Pick<
  WireCreatedEvent,
  'contractId' | 'templateId' | 'packageName' | 'createArgument' | 'signatories' | 'observers'
>;

function exerciseOf(
  contract: ContractFields,
  { choice, choiceArgument }: Exercise,
  actAs: readonly string[],
): Exercised {
  const { contractId, templateId, packageName } = contract;
  const type = findChoiceType({ id: templateId, packageName }, choice);
  if (type === undefined) throw unknownChoice(choice, templateId);
  if (!isController(contract, choice, actAs)) {
    const cause = `${actAs.join(', ')} does not control ${choice} of contract ${contractId}`;
    throw requestError('DAML_AUTHORIZATION_ERROR', cause);
  }
  const creation = choice === 'Transfer' ? successorOf(contract, choiceArgument) : undefined;
  const result = { unit: {}, int64: '42', contractId: creation?.contractId }[type.result];
  const { isConsuming } = type;
  return { kind: 'exercise', contractId, choice, choiceArgument, isConsuming, result, creation };
}

/** The error of a choice that a template does not have. */
const unknownChoice = (choice: string, templateId: string) =>
  invalidArgument(
    `Invalid template:${templateId} or choice:${choice}. In the sandbox, all templates have Archive, and its own templates with an owner have Touch and Transfer`,
  );

/** Whether parties may exercise a choice together: all signatories for `Archive`, any stakeholder for other choices. */
export function isController(
  contract: Pick<WireCreatedEvent, 'signatories' | 'observers'>,
  choice: string,
  actAs: readonly string[],
): boolean {
  if (choice === 'Archive') return contract.signatories.every((party) => actAs.includes(party));
  return stakeholdersOf(contract).some((party) => actAs.includes(party));
}

/**
 * Creates a contract. The party that a template of the sandbox names must act, and signs alone. All acting parties sign
 * a contract of another template.
 */
function creationOf({ templateId, createArguments }: Create, { actAs, packages }: InterpretationContext): Creation {
  const template = packages.resolve(templateId);
  const { fields = {}, observers = [] } = findTemplateType(template);
  const partyAt = (label: string): readonly string[] => {
    const value = isRecord(createArguments) ? createArguments[label] : undefined;
    return typeof value === 'string' ? [value] : [];
  };
  const named = ['owner', 'seller'].filter((label) => label in fields).flatMap(partyAt);
  if (named.some((party) => !actAs.includes(party))) {
    const requirement = `requires authorizers ${named.join(', ')}, but only ${actAs.join(', ')} were given`;
    throw requestError('DAML_AUTHORIZATION_ERROR', `Interpretation error: Error: node (${template.id}) ${requirement}`);
  }
  return {
    kind: 'create',
    contractId: newContractId(),
    template,
    createArgument: createArguments,
    signatories: named.length === 0 ? [...new Set(actAs)] : named,
    observers: observers.flatMap(partyAt),
  };
}

/**
 * Returns the contract with another owner as its observer. The signatories stay the same, because they have authorized
 * it.
 */
function successorOf(contract: ContractFields, choiceArgument: unknown): Creation {
  const { templateId, packageName, signatories, createArgument } = contract;
  const newOwner = isRecord(choiceArgument) ? choiceArgument['newOwner'] : undefined;
  return {
    kind: 'create',
    contractId: newContractId(),
    template: { id: templateId, packageName },
    createArgument: { ...Object(createArgument), owner: newOwner } as unknown,
    signatories,
    observers: typeof newOwner === 'string' ? [newOwner] : [],
  };
}

/** A contract id without the suffix that the commit adds. */
const newContractId = (): string => `00${sha256('contract', randomUUID())}`;

/** The content of a prepared transaction. Times are in microseconds since the epoch. */
export interface PreparedSubmission {
  readonly commandId: string;
  readonly party: string;
  readonly synchronizerId: string;
  readonly preparationTime: number;
  readonly minLedgerTime: number | undefined;
  readonly maxRecordTime: number | undefined;
  readonly effect: Effect;
}

/** What a command does to the ledger. */
export type Effect = Creation | Exercised;

/** A contract is created. */
export interface Creation {
  readonly kind: 'create';
  /** The contract id without the suffix that the commit adds. */
  readonly contractId: string;
  readonly template: TemplateRef;
  readonly createArgument: unknown;
  readonly signatories: readonly string[];
  readonly observers: readonly string[];
}

/** A choice is exercised. */
export interface Exercised {
  readonly kind: 'exercise';
  readonly contractId: string;
  readonly choice: string;
  readonly choiceArgument: unknown;
  readonly isConsuming: boolean;
  /** The result. If the choice creates a contract, it is the id of that contract. */
  readonly result: unknown;
  readonly creation: Creation | undefined;
}
