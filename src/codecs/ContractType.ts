import type { Problem } from './Problem.js';

/**
 * Decodes JSON from the ledger.
 *
 * @category Contract types
 */
export interface JsonDecoder<T> {
  /** Returns the decoded value, or the reason why decoding failed. */
  readonly run: (json: unknown) => Decoded<T>;
}

/**
 * The result of a {@link JsonDecoder}.
 *
 * @inline
 */
export type Decoded<T> =
  | {
      /** Decoding succeeded. */
      readonly ok: true;
      /** The value. */
      readonly result: T;
    }
  | {
      /** Decoding failed. */
      readonly ok: false;
      /** Where and why it failed. */
      readonly error: DecodeFailure;
    };

/**
 * The reason why JSON cannot be decoded.
 *
 * @inline
 */
export interface DecodeFailure {
  /** The path of the failure, such as `input.holder`. */
  readonly at?: string;
  /** The reason. Decoders from Daml's code generator include the value, after `got`. */
  readonly message?: string;
  /** All reasons, without values. Only types made by {@link contractType} and {@link interfaceType} set it. */
  readonly problems?: readonly Problem[];
}

/**
 * A template or an interface, with the type of its payload. The type is structural: the output of Daml's code generator
 * for JavaScript, of any release, matches it. {@link contractType} creates one from an io-ts codec or a schema.
 *
 * An object with the choice `Archive` and without an `encode` method is an interface, as in generated code. Its payload
 * is its view. Any other object is a template, also one that has only the two properties of this type.
 *
 * @category Contract types
 */
export interface ContractType<T = unknown> {
  /** `#package-name:Module:Entity`. */
  readonly templateId: string;
  /** Decodes the payload: the arguments of a template, the view of an interface. */
  readonly decoder: JsonDecoder<T>;
}

/**
 * A template whose contracts can be created. Structural, like {@link ContractType}. `I` is the type of the arguments of
 * commands. It differs from that of the payload if a {@link StandardSchema} converts values.
 *
 * @category Contract types
 */
export interface CreatableType<T = unknown, I = T> extends ContractType<T> {
  /** Encodes the arguments as Daml JSON. */
  encode(payload: I): unknown;
}

/**
 * A choice of a template or an interface. Structural, like {@link ContractType}. `I` is the type of the argument of
 * commands, as in {@link CreatableType}.
 *
 * @category Contract types
 */
export interface ChoiceType<C = unknown, R = unknown, I = C> {
  /** The name of the choice. */
  readonly choiceName: string;
  /** Decodes the argument. */
  readonly argumentDecoder: JsonDecoder<C>;
  /** Encodes the argument as Daml JSON. */
  argumentEncode(argument: I): unknown;
  /** Decodes the result. */
  readonly resultDecoder: JsonDecoder<R>;
  /** Returns the template or the interface that defines the choice. */
  template(): {
    /** `#package-name:Module:Entity`. */
    readonly templateId: string;
  };
}

/**
 * The payload type of a {@link ContractType}.
 *
 * @category Contract types
 */
export type PayloadOf<C> = C extends ContractType<infer T> ? T : never;

/**
 * The type of the decoded argument of a {@link ChoiceType}.
 *
 * @category Contract types
 */
export type ArgumentOf<C> = C extends ChoiceType<infer A, unknown, never> ? A : never;

/**
 * The result type of a {@link ChoiceType}.
 *
 * @category Contract types
 */
export type ResultOf<C> = C extends ChoiceType<unknown, infer R> ? R : never;

/** Whether a type is an interface, whose payload is a view. Generated ones have `Archive`, but no `encode`. */
export const isInterfaceType = (type: ContractType): boolean => 'Archive' in type && !('encode' in type);
