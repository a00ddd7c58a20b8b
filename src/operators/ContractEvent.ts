import type { ArgumentOf, ChoiceType, ContractType, PayloadOf, ResultOf } from '../codecs/ContractType.js';
import type { ArchivedEvent, CreatedEvent, ExercisedEvent, ViewStatus } from '../codecs/Event.js';
import type { Problem } from '../codecs/Problem.js';
import type { AssignedEvent, UnassignedEvent } from '../codecs/Reassignment.js';

/**
 * A contract of type `C` was created.
 *
 * @category Operators
 */
export type CreatedEventOf<C extends ContractType> = C extends ContractType
  ? CreatedEvent & {
      /** The `templateId` of the type, which distinguishes it from other types. */
      readonly type: C['templateId'];
      /** The decoded arguments of a template, or the decoded view of an interface. */
      readonly payload: PayloadOf<C>;
    }
  : never;

/**
 * A contract of type `C` was assigned to a synchronizer.
 *
 * @category Operators
 */
export type AssignedEventOf<C extends ContractType> = Omit<AssignedEvent, 'createdEvent'> & {
  /** The contract, with its decoded payload. */
  readonly createdEvent: CreatedEventOf<C>;
};

/**
 * A choice was exercised on a contract of type `C`: a union, discriminated by `choice`, that includes
 * {@link OtherExercisedEvent}.
 *
 * @category Operators
 */
export type ExercisedEventOf<C extends ContractType> =
  | OtherExercisedEvent<C['templateId']>
  | (C extends ContractType
      ? { [K in ChoiceNameOf<C>]: ExercisedChoice<C['templateId'], K, C[K]> }[ChoiceNameOf<C>]
      : never);

/**
 * The names of the choices of a type, which are its properties.
 *
 * @inline
 */
type ChoiceNameOf<C> = { [K in keyof C]: C[K] extends ChoiceType ? K : never }[keyof C] & string;

/**
 * A choice was exercised, with its argument and its result decoded.
 *
 * @category Operators
 */
export interface ExercisedChoice<I extends string, N extends string, D> extends Omit<ExercisedEvent, 'choice'> {
  /** The `templateId` of the type. */
  readonly type: I;
  /** The name of the choice. */
  readonly choice: N;
  /** The decoded argument. */
  readonly argument: ArgumentOf<D>;
  /** The decoded result. */
  readonly result: ResultOf<D>;
}

/**
 * A choice was exercised that the type does not define: a choice of an interface, or of a later version of the
 * template.
 *
 * @category Operators
 */
export interface OtherExercisedEvent<I extends string = string> extends Omit<ExercisedEvent, 'choice'> {
  /** The `templateId` of the type. */
  readonly type: I;
  /** Always absent, so that narrowing by `choice` selects only the choices of the type. */
  readonly choice?: undefined;
  /** The name of the choice. The argument and the result stay undecoded. */
  readonly otherChoice: string;
}

/**
 * An event of a contract of a given type that cannot be decoded as that type.
 *
 * @category Operators
 */
export interface UndecodedEvent<I extends string = string> {
  /** The kind of event. */
  readonly _tag: 'UndecodedEvent';
  /** The `templateId` of the type. */
  readonly type: I;
  /** The original event. */
  readonly event: CreatedEvent | AssignedEvent | ExercisedEvent;
  /** Why it cannot be decoded, without values. */
  readonly problems: readonly Problem[];
  /** The status of a view that the participant could not compute. */
  readonly viewStatus?: ViewStatus;
}

/**
 * The event `A`, decoded for a contract of type `C`.
 *
 * @category Operators
 */
export type ContractEvent<A, C extends ContractType> =
  | (A extends CreatedEvent ? CreatedEventOf<C> : never)
  | (A extends AssignedEvent ? AssignedEventOf<C> : never)
  | (A extends ExercisedEvent ? ExercisedEventOf<C> : never)
  | Extract<A, ArchivedEvent | UnassignedEvent>;
