import type {
  ChoiceType,
  ContractType,
  CreatableType,
  PayloadOf,
  ResultOf,
  JsonDecoder,
} from '../../codecs/ContractType.js';
import type { ModelLedger, ReadContract } from './TemplateModel.js';

/**
 * A record as Daml JSON.
 *
 * @inline
 */
export type Json = Readonly<Record<string, unknown>>;

/**
 * The arguments of a contract, as the functions of a template get them that hold before there is a contract.
 *
 * @category Templates
 */
export interface NewContract<T> {
  /** The arguments, decoded. */
  readonly payload: T;
}

/**
 * A contract, as the choices of a template get it.
 *
 * @category Templates
 */
export interface TemplateContract<T> extends NewContract<T> {
  /** The id. */
  readonly contractId: string;
  /** The parties that have signed it. */
  readonly signatories: readonly string[];
  /** The other parties that see it. */
  readonly observers: readonly string[];
}

/**
 * The ledger inside a choice. All methods work within the transaction: they see what it has created and archived so far, and
 * each other contract that is active and that a party of the submission sees, or that the submission discloses. They are
 * authorized by the controllers of the choice and the signatories of its contract. An error of a method rejects the
 * submission, also if the body catches it.
 *
 * @category Templates
 */
export interface TemplateLedger {
  /**
   * The ledger time of the transaction, such as `2026-07-24T10:00:00.5Z`. Compare times as numbers, with `Date.parse`: their
   * fractions differ in length, so that texts have another order.
   */
  readonly time: string;
  /**
   * Creates a contract. Its signatories must authorize it.
   *
   * @param type - the type of a template, or its id
   * @param payload - the arguments; for an id, as Daml JSON
   * @returns the contract id. Where a `ContractId` of generated code is expected, it has that type
   */
  // eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- inferred from where the id goes
  create<C extends CreatableType, Id extends string = string>(type: C, payload: Parameters<C['encode']>[0]): Id;
  /** Creates a contract of a template without a type. */
  create(templateId: string, payload: Json): string;
  /**
   * Exercises a choice on a contract. Its controllers must authorize it.
   *
   * @param type - the type of a template, or of an interface that defines the choice; or its id
   * @param choice - the name of the choice, or its type, such as `Offer.Accept`
   * @param argument - the argument; for an id, as Daml JSON
   * @returns the result of the choice
   */
  exercise<C extends ContractType, K extends ChoiceNameOf<C> | 'Archive'>(
    type: C,
    contractId: string,
    choice: K,
    argument: ArgumentInputOf<C, K>,
  ): ResultOf<ChoiceIn<C, K>>;
  /** Exercises a choice that is given by its type. */
  exercise<D extends ChoiceType>(
    type: ContractType,
    contractId: string,
    choice: D,
    argument: Parameters<D['argumentEncode']>[0],
  ): ResultOf<D>;
  /** Exercises a choice of a template without a type. */
  exercise(typeId: string, contractId: string, choice: string, argument: Json): unknown;
  /**
   * Reads a contract that is active. One of its stakeholders must authorize it.
   *
   * @param type - the type of a template; or of an interface, then the payload is the view; or its id
   * @returns the contract
   */
  fetch<C extends ContractType>(type: C, contractId: string): TemplateContract<PayloadOf<C>>;
  /** Reads a contract of a template without a type. */
  fetch(typeId: string, contractId: string): TemplateContract<Json>;
  /**
   * Reads the newest active contract with a key. One of its stakeholders must authorize it.
   *
   * @param type - the type of a template with a key, or its id
   * @param key - the key, as Daml JSON
   * @returns the contract
   */
  fetchByKey<C extends ContractType>(type: C, key: unknown): TemplateContract<PayloadOf<C>>;
  /** Reads a contract of a template without a type, by its key. */
  fetchByKey(templateId: string, key: unknown): TemplateContract<Json>;
  /**
   * Finds the newest active contract with a key that the submission sees. Unlike a participant, it does not check that the
   * maintainers of the key authorize it.
   *
   * @param type - the type of a template with a key, or its id
   * @param key - the key, as Daml JSON
   * @returns the contract id; `undefined` if there is no contract
   */
  lookupByKey(type: ContractType | string, key: unknown): string | undefined;
  /** Archives a contract, by its choice `Archive`. All its signatories must authorize it. */
  archive(contractId: string): void;
}

/**
 * The names of the choices of a type, without `Archive`, which every template has.
 *
 * @inline
 */
export type ChoiceNameOf<C> = {
  [K in keyof C & string]: C[K] extends ChoiceType ? (K extends 'Archive' ? never : K) : never;
}[keyof C & string];

/**
 * The type of a choice.
 *
 * @inline
 */
type ChoiceIn<C, K> = K extends keyof C ? C[K] : unknown;

/**
 * The argument that a choice takes.
 *
 * @inline
 */
type ArgumentInputOf<C, K> =
  ChoiceIn<C, K> extends { argumentEncode(argument: infer A): unknown } ? A : Readonly<Record<string, never>>;

/** The typed form of the ledger inside a choice. */
export function ledgerOf(ledger: ModelLedger): TemplateLedger {
  const idOf = (type: ContractType | string): string => (typeof type === 'string' ? type : type.templateId);
  const read = (type: ContractType | string, contract: ReadContract): TemplateContract<never> => {
    const { contractId, signatories, observers, payload } = contract;
    const decoded = typeof type === 'string' ? payload : decodeWith(type.decoder)(payload);
    return { contractId, payload: decoded as never, signatories, observers };
  };
  return {
    time: ledger.time,
    create: (type: CreatableType | string, payload: unknown) =>
      ledger.create(idOf(type), typeof type === 'string' ? payload : type.encode(payload)) as never,
    exercise: (
      type: ContractType | string,
      contractId: string,
      choice: ChoiceType | string,
      argument: unknown,
    ): never => {
      const choiceType = typeof choice === 'string' ? choiceOf(type, choice) : choice;
      const name = typeof choice === 'string' ? choice : choice.choiceName;
      const json = choiceType === undefined ? argument : choiceType.argumentEncode(argument);
      const result = ledger.exercise(idOf(type), contractId, name, json);
      return (choiceType === undefined ? result : decodeWith(choiceType.resultDecoder)(result)) as never;
    },
    fetch: (type: ContractType | string, contractId: string) => read(type, ledger.fetch(idOf(type), contractId)),
    fetchByKey: (type: ContractType | string, key: unknown) => read(type, ledger.fetchByKey(idOf(type), key)),
    lookupByKey: (type, key) => ledger.lookupByKey(idOf(type), key),
    archive: (contractId) => {
      ledger.archive(contractId);
    },
  };
}

const choiceOf = (type: ContractType | string, name: string): ChoiceType | undefined =>
  typeof type === 'string' ? undefined : (type as unknown as Readonly<Record<string, ChoiceType>>)[name];

/** Returns a function that decodes Daml JSON, and throws a `TypeError` if that fails. */
export const decodeWith =
  <T>(decoder: JsonDecoder<T>) =>
  (json: unknown): T => {
    const decoded = decoder.run(json);
    if (decoded.ok) return decoded.result;
    const { at = '', message = '' } = decoded.error;
    throw new TypeError(`The value does not have its type: ${at === '' ? '' : `${at}: `}${message}`);
  };
