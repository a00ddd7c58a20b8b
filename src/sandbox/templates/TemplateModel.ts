import type { DecodeFailure } from '../../codecs/ContractType.js';
import type { Fields } from '../prepared/types.js';
import type { ContractFacts, Creation } from '../submission/effects.js';
import type { TemplateRef } from '../wire/WireUpdate.js';

/** How the contracts of a template behave. All values are Daml JSON. */
export interface TemplateModel {
  /** The types of the arguments; if they are not known, they are guessed. */
  readonly fields?: Fields;
  /** The fields that only later versions of the template have; absent if it is not defined. */
  readonly laterFields?: readonly string[];
  /** Returns why arguments are not those of the template; `undefined` if they are. */
  readonly check: (createArgument: unknown) => DecodeFailure | undefined;
  /** Returns what follows from the arguments. */
  readonly describe: (createArgument: unknown, authority: readonly string[]) => Description;
  /** Returns the key of a contract; absent if the template has none. */
  readonly key?: (createArgument: unknown) => unknown;
  readonly interfaces: readonly InterfaceModel[];
  /** Finds a choice of the template itself. */
  readonly findChoice: (name: string) => ChoiceModel | undefined;
}

/** What follows from the arguments of a contract. */
interface Description extends Pick<Creation, 'signatories' | 'observers'> {
  /** Whether the arguments satisfy the precondition of the template. */
  readonly isValid: boolean;
}

/** How the contracts of a template behave as those of an interface. */
export interface InterfaceModel {
  /** `#package-name:Module:Entity`, or with a package id. */
  readonly interfaceId: string;
  /** The ids of the interfaces that it requires. */
  readonly requires: readonly string[];
  readonly view: (createArgument: unknown) => unknown;
  readonly findChoice: (name: string) => ChoiceModel | undefined;
}

/** How a choice behaves. */
export interface ChoiceModel {
  readonly isConsuming: boolean;
  readonly fields?: Fields;
  readonly check: (choiceArgument: unknown) => DecodeFailure | undefined;
  readonly controllers: (
    contract: ModelContract,
    choiceArgument: unknown,
    authority: readonly string[],
  ) => readonly string[];
  /** Exercises the choice, and returns its result. */
  readonly exercise: (contract: ModelContract, choiceArgument: unknown, ledger: ModelLedger) => unknown;
}

/** A contract that a transaction creates or uses. */
export type ModelContract = ContractFacts & Pick<Creation, 'createArgument'>;

/** A contract as a body reads it: with its arguments, or its view through an interface. */
export interface ReadContract extends ModelContract {
  readonly payload: unknown;
}

/** The ledger as the body of a choice sees it. */
export interface ModelLedger {
  /** The ledger time of the transaction. */
  readonly time: string;
  readonly create: (templateId: string, createArgument: unknown) => string;
  /** Creates a contract whose parties do not follow from its arguments. */
  readonly createFor: (
    template: TemplateRef,
    createArgument: unknown,
    parties: Pick<Creation, 'signatories' | 'observers'>,
  ) => string;
  readonly exercise: (typeId: string, contractId: string, choice: string, choiceArgument: unknown) => unknown;
  readonly fetch: (typeId: string, contractId: string) => ReadContract;
  readonly fetchByKey: (templateId: string, key: unknown) => ReadContract;
  readonly lookupByKey: (templateId: string, key: unknown) => string | undefined;
  readonly archive: (contractId: string) => void;
}

/** Every template has this choice, which its signatories exercise together. */
export const archiveModel: ChoiceModel = {
  isConsuming: true,
  fields: {},
  check: () => undefined,
  controllers: ({ signatories }) => signatories,
  exercise: () => ({}),
};
