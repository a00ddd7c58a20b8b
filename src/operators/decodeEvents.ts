import { filter, map, type Observable } from 'rxjs';
import { type ChoiceType, type ContractType, isInterfaceType } from '../codecs/ContractType.js';
import { decodeAs, decodePayload, matchId, matchType } from '../codecs/decodePayload.js';
import type { CreatedEvent, ExercisedEvent } from '../codecs/Event.js';
import { checkTemplateId } from '../codecs/scalars.js';
import type { Update } from '../codecs/Update.js';
import { DecodeError } from '../errors/feed.js';
import type { UndecodedEvent } from './ContractEvent.js';
import type { EventOf } from './toEvents.js';

/**
 * Options of `ofTemplate` with types.
 *
 * @inline
 */
export interface DecodeOptions {
  /**
   * What to do with an event that cannot be decoded: `'fail'` fails with a `DecodeError`, `'emit'` emits an
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
