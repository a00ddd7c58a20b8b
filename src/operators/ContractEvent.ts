import {
  type ArgumentOf,
  type ChoiceType,
  type ContractType,
  isInterfaceType,
  type PayloadOf,
  type ResultOf,
} from '../codecs/ContractType.js';
import type { ArchivedEvent, CreatedEvent, ExercisedEvent, ViewStatus } from '../codecs/Event.js';
import type { Problem } from '../codecs/Problem.js';
import type { AssignedEvent, UnassignedEvent } from '../codecs/Reassignment.js';
import { filter, map, type Observable } from 'rxjs';
import { checkDistinct, decodeAs, decodePayload, matchId, matchType } from '../codecs/decodePayload.js';
import { checkTemplateId } from '../codecs/scalars.js';
import type { Update } from '../codecs/Update.js';
import { DecodeError } from '../errors/feed.js';
import type { EventOf } from './toEvents.js';

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

/**
 * Options of `ofTemplate` with types.
 *
 * @inline
 */
export interface DecodeOptions {
  /**
   * The handling of an event that cannot be decoded: `'fail'` fails with a `DecodeError`, `'emit'` emits an
   * `UndecodedEvent`.
   *
   * @defaultValue 'fail'
   */
  readonly onUndecodable?: 'fail' | 'emit' | undefined;
}

/** Decodes the events of contracts of the given types, and drops all others. */
export function decodeEvents(
  types: readonly ContractType[],
  { onUndecodable = 'fail' }: DecodeOptions = {},
): (source: Observable<EventOf<Update>>) => Observable<unknown> {
  if (types.length === 0) throw new TypeError('ofTemplate requires at least one template or type');
  const matchers = types.map(matcherOf);
  checkDistinct(types);
  return (source) =>
    source.pipe(
      map((event) => decode(matchers, event)),
      filter((event) => event !== undefined),
      map((event) => {
        if (event._tag !== 'UndecodedEvent' || onUndecodable === 'emit') return event;
        throw new DecodeError(event.type, event.problems, offsetOf(event.event));
      }),
    );
}

/** A type, its choices, and the predicates that recognize its events. */
interface Matcher {
  readonly type: ContractType;
  readonly choices: readonly ChoiceType[];
  readonly isOf: (created: CreatedEvent) => boolean;
  readonly hasEvent: (event: ContractRef) => boolean;
}

/** The data of archivals, exercises and unassignments that identifies the type of their contract. */
interface ContractRef {
  readonly templateId?: string;
  readonly packageName: string;
  readonly interfaceId?: string;
  readonly implementedInterfaces?: readonly string[];
}

function matcherOf(type: ContractType): Matcher {
  const { templateId } = type;
  checkTemplateId(templateId);
  const matches = matchId(templateId);
  return {
    type,
    choices: Object.values(type).filter(isChoice),
    isOf: matchType(type),
    hasEvent: isInterfaceType(type)
      ? ({ interfaceId, implementedInterfaces = [] }) =>
          (interfaceId !== undefined && matches(interfaceId)) || implementedInterfaces.some((id) => matches(id))
      : (event) => event.templateId !== undefined && matches(event.templateId, event.packageName),
  };
}

const isChoice = (value: unknown): value is ChoiceType =>
  typeof value === 'object' && value !== null && 'choiceName' in value && 'argumentDecoder' in value;

/** Decodes the event as one of the types; returns `undefined` if it belongs to none. */
function decode(matchers: readonly Matcher[], event: EventOf<Update>) {
  switch (event._tag) {
    case 'CreatedEvent':
      return decodeCreated(matchers, event, event);
    case 'AssignedEvent': {
      const createdEvent = decodeCreated(matchers, event.createdEvent, event);
      return createdEvent?._tag === 'CreatedEvent' ? { ...event, createdEvent } : createdEvent;
    }
    case 'ExercisedEvent':
      return decodeExercised(matchers, event);
    case 'ArchivedEvent':
    case 'UnassignedEvent':
      return matchers.some(({ hasEvent }) => hasEvent(event)) ? event : undefined;
    default:
      return undefined;
  }
}

function decodeCreated(matchers: readonly Matcher[], created: CreatedEvent, event: UndecodedEvent['event']) {
  const type = matchers.find(({ isOf }) => isOf(created))?.type;
  if (type === undefined) return undefined;
  const decoded = decodePayload(type, created);
  if (!decoded.ok) return undecoded(type, event, decoded);
  return { ...created, type: type.templateId, payload: decoded.payload };
}

function decodeExercised(matchers: readonly Matcher[], event: ExercisedEvent) {
  const [first, ...others] = matchers.filter(({ hasEvent }) => hasEvent(event));
  if (first === undefined) return undefined;
  for (const { type, choices } of [first, ...others]) {
    const choice = choices.find((each) => isOfChoice(each, event));
    if (choice !== undefined) return decodeChoice(type, choice, event);
  }
  const { choice: otherChoice, ...fields } = event;
  return { ...fields, type: first.type.templateId, otherChoice };
}

/** Whether an event exercises a choice. `Archive` is the same choice on all templates and interfaces. */
const isOfChoice = (choice: ChoiceType, { choice: name, interfaceId, templateId }: ExercisedEvent): boolean =>
  choice.choiceName === name &&
  (name === 'Archive' || matchId(choice.template().templateId)(interfaceId ?? templateId));

function decodeChoice(type: ContractType, choice: ChoiceType, event: ExercisedEvent) {
  const argument = decodeAs(choice.argumentDecoder, 'choiceArgument', event.choiceArgument);
  const result = decodeAs(choice.resultDecoder, 'exerciseResult', event.exerciseResult);
  if (argument.ok && result.ok) {
    return { ...event, type: type.templateId, argument: argument.payload, result: result.payload };
  }
  return undecoded(type, event, {
    problems: [argument, result].flatMap((decoded) => (decoded.ok ? [] : decoded.problems)),
  });
}

const undecoded = (
  { templateId: type }: ContractType,
  event: UndecodedEvent['event'],
  { problems, viewStatus }: Pick<UndecodedEvent, 'problems' | 'viewStatus'>,
): UndecodedEvent => ({ _tag: 'UndecodedEvent', type, event, problems, ...(viewStatus && { viewStatus }) });

const offsetOf = (event: UndecodedEvent['event']): number =>
  event._tag === 'AssignedEvent' ? event.createdEvent.offset : event.offset;
