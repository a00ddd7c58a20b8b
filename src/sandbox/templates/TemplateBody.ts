import type { ArgumentOf, ChoiceType, ContractType, PayloadOf, ResultOf } from '../../codecs/ContractType.js';
import type { ChoiceNameOf, Json, NewContract, TemplateContract, TemplateLedger } from './TemplateLedger.js';
import type { InterfaceModel, TemplateModel } from './TemplateModel.js';

/**
 * A template that the sandbox runs, made by `template`.
 *
 * @category Templates
 */
export interface SandboxTemplate {
  /** What this is. */
  readonly _tag: 'SandboxTemplate';
  /** `#package-name:Module:Entity`, or with a package id. */
  readonly templateId: string;
  /** The version of its package, such as `1.1.0`. */
  readonly packageVersion: string;
  /** @internal */
  readonly newFields: readonly string[];
  /** @internal */
  readonly interfaces: readonly InterfaceModel[];
  /** @internal */
  readonly modelFor: (addedFields: readonly string[]) => TemplateModel;
}

/**
 * What a choice does. `C` is its type, such as `Offer.Accept`, and `T` the payload of the contract.
 *
 * @category Templates
 */
export interface ChoiceBody<T, C> {
  /**
   * Whether the choice archives the contract. A consuming choice does so before its body runs, as in Daml.
   *
   * @defaultValue true
   */
  readonly consuming?: boolean;
  /** Returns the parties that must exercise the choice together, at least one. */
  readonly controllers: (contract: TemplateContract<T>, argument: ArgumentOf<C>) => readonly string[];
  /**
   * Does the work, and returns the result: `{}` for a choice without one. What it does on the ledger is authorized by the
   * controllers, together with the signatories of the contract. It must be synchronous, and depend on its parameters
   * alone. If it throws, the submission is rejected with `INTERPRETATION_USER_ERROR`, and nothing is committed.
   */
  readonly exercise: (contract: TemplateContract<T>, argument: ArgumentOf<C>, ledger: TemplateLedger) => ResultOf<C>;
}

/**
 * The bodies of the choices of a type, by name. Without a body, a choice cannot be exercised.
 *
 * @inline
 */
type ChoiceBodies<T, C> = { readonly [K in ChoiceNameOf<C>]?: ChoiceBody<T, C[K]> };

/**
 * How the contracts of a template behave. `C` is the type of the template.
 *
 * @category Templates
 */
export interface TemplateBody<C> {
  /**
   * The version of its package: numbers and dots. The package name selects the newest version. A template that a version does
   * not define is the same as in the version before it.
   *
   * @defaultValue '1.0.0'
   */
  readonly packageVersion?: string;
  /**
   * The optional fields that this version adds to the template. In a contract of an earlier version, they are `null`. An
   * earlier version refuses a contract in which one of them is set.
   *
   * @defaultValue none
   */
  readonly newFields?: readonly (keyof PayloadOf<C> & string)[];
  /** Returns the parties that must authorize a contract, at least one. */
  readonly signatories: (contract: NewContract<PayloadOf<C>>) => readonly string[];
  /**
   * Returns the other parties that see a contract.
   *
   * @defaultValue none
   */
  readonly observers?: (contract: NewContract<PayloadOf<C>>) => readonly string[];
  /**
   * The precondition: whether such a contract may be created. Otherwise the submission is rejected with
   * `TEMPLATE_PRECONDITION_VIOLATED`.
   *
   * @defaultValue always
   */
  readonly ensure?: (contract: NewContract<PayloadOf<C>>) => boolean;
  /**
   * Returns the key of a contract, as Daml JSON. As since Canton 3.5, several contracts may have the same key: the newest one
   * that is active, and that the submitting parties see, is found by it.
   *
   * @defaultValue no key
   */
  readonly key?: (contract: NewContract<PayloadOf<C>>) => unknown;
  /**
   * The interfaces that the template implements, each made by `interfaceInstance`.
   *
   * @defaultValue none
   */
  readonly interfaces?: readonly InterfaceInstance<PayloadOf<C>>[];
  /**
   * What the choices do. Every template also has `Archive`, which its signatories exercise together.
   *
   * @defaultValue none
   */
  readonly choices?: ChoiceBodies<PayloadOf<C>, C>;
}

/**
 * A template by its id alone: all values are Daml JSON.
 *
 * @inline
 */
export type UntypedBody = Omit<TemplateBody<ContractType<Json>>, 'choices'> & {
  /** What the choices do, by name. */
  readonly choices?: Readonly<Record<string, ChoiceBody<Json, ChoiceType<Json>>>>;
};

/**
 * How the contracts of a template with the payload `T` behave as those of an interface, made by `interfaceInstance`.
 *
 * @category Templates
 */
export interface InterfaceInstance<T> {
  /** What this is. */
  readonly _tag: 'InterfaceInstance';
  /** `#package-name:Module:Entity`, or with a package id. */
  readonly interfaceId: string;
  /** @internal */
  readonly modelFor: (decode: (createArgument: unknown) => T) => InterfaceModel;
}

/**
 * How the contracts of a template behave as those of an interface. `T` is the payload of the template, and `I` the type of the
 * interface.
 *
 * @category Templates
 */
export interface InterfaceBody<T, I> {
  /**
   * The interfaces that the interface requires, by their types. The template must implement them, too.
   *
   * @defaultValue none
   */
  readonly requires?: readonly ContractType[];
  /** Returns the view of a contract, as Daml JSON. The types of generated views also have a brand, which it leaves out. */
  readonly view: (contract: NewContract<T>) => Pick<PayloadOf<I>, keyof PayloadOf<I> & string>;
  /**
   * What the choices of the interface do for this template.
   *
   * @defaultValue none
   */
  readonly choices?: ChoiceBodies<T, I>;
}
