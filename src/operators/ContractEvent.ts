import type { ArgumentOf, ChoiceType, ContractType, PayloadOf, ResultOf } from '../codecs/ContractType.js';
import type { ArchivedEvent, CreatedEvent, ExercisedEvent, ViewStatus } from '../codecs/Event.js';
import type { Problem } from '../codecs/Problem.js';
import type { AssignedEvent, UnassignedEvent } from '../codecs/Reassignment.js';

/**
 * A contract of the type `C` was created.
 *
 * @category Operators
 */
export type CreatedEventOf<C extends ContractType> = C extends ContractType
  ? CreatedEvent & {
      /** The `templateId` of the type, which tells several types apart. */
      readonly type: C['templateId'];
      /** The arguments, or the view where the type is an interface. */
      readonly payload: PayloadOf<C>;
    }
  : never;

/**
 * A contract of the type `C` was assigned to a synchronizer.
 *
 * @category Operators
 */
export type AssignedEventOf<C extends ContractType> = Omit<AssignedEvent, 'createdEvent'> & {
  /** The contract. */
  readonly createdEvent: CreatedEventOf<C>;
};

/**
 * A choice of a contract of the type `C` was exercised: a union by `choice`, with {@link OtherExercisedEvent}.
 *
 * @category Operators
 */
export type ExercisedEventOf<C extends ContractType> =
  | OtherExercisedEvent<C['templateId']>
  | (C extends ContractType
      ? { [K in ChoiceNameOf<C>]: ExercisedChoice<C['templateId'], K, C[K]> }[ChoiceNameOf<C>]
      : never);

/**
 * The names of the choices that are properties of a type.
 *
 * @category Operators
 */
export type ChoiceNameOf<C> = { [K in keyof C]: C[K] extends ChoiceType ? K : never }[keyof C] & string;

/**
 * A choice was exercised, with its argument and its result decoded.
 *
 * @category Operators
 */
export interface ExercisedChoice<I extends string, N extends string, D> extends Omit<ExercisedEvent, 'choice'> {
  /** The `templateId` of the type. */
  readonly type: I;
  /** The choice. */
  readonly choice: N;
  /** The argument. */
  readonly argument: ArgumentOf<D>;
  /** The result. */
  readonly result: ResultOf<D>;
}

/**
 * A choice was exercised that the type does not have: one of an interface, or of a later version.
 *
 * @category Operators
 */
export interface OtherExercisedEvent<I extends string = string> extends Omit<ExercisedEvent, 'choice'> {
  /** The `templateId` of the type. */
  readonly type: I;
  /** Absent, so that the name of a choice only selects those of the type. */
  readonly choice?: undefined;
  /** The choice. Its argument and its result are undecoded. */
  readonly otherChoice: string;
}

/**
 * An event of a contract of a type that does not decode as such.
 *
 * @category Operators
 */
export interface UndecodedEvent<I extends string = string> {
  /** The kind of event. */
  readonly _tag: 'UndecodedEvent';
  /** The `templateId` of the type. */
  readonly type: I;
  /** The event. */
  readonly event: CreatedEvent | AssignedEvent | ExercisedEvent;
  /** Why it does not decode, without any value. */
  readonly problems: readonly Problem[];
  /** The status of a view that the participant could not compute. */
  readonly viewStatus?: ViewStatus;
}

/**
 * The event `A` of a contract of the type `C`.
 *
 * @category Operators
 */
export type ContractEvent<A, C extends ContractType> =
  | (A extends CreatedEvent ? CreatedEventOf<C> : never)
  | (A extends AssignedEvent ? AssignedEventOf<C> : never)
  | (A extends ExercisedEvent ? ExercisedEventOf<C> : never)
  | Extract<A, ArchivedEvent | UnassignedEvent>;
