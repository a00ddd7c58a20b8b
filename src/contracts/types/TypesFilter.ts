import { type ContractType, isInterfaceType } from '../../codecs/ContractType.js';
import { matchId, matchType } from '../../codecs/decodePayload.js';
import type { ArchivedEvent, CreatedEvent, ExercisedEvent } from '../../codecs/Event.js';
import type { UnassignedEvent } from '../../codecs/Reassignment.js';
import type { UpdateEvent } from '../parties/seenBy.js';

/** What a participant shows of an update to a request for some types. */
export class TypesFilter {
  readonly #selects: (created: CreatedEvent) => boolean;
  readonly #isTemplate: (templateId: string, packageName?: string) => boolean;
  readonly #isInterface: (interfaceId: string) => boolean;

  constructor(types: readonly ContractType[]) {
    const selected = types.map(matchType);
    const templates = types.filter((type) => !isInterfaceType(type)).map(({ templateId }) => matchId(templateId));
    const interfaces = types.filter(isInterfaceType).map(({ templateId }) => matchId(templateId));
    this.#selects = (created) => selected.some((matches) => matches(created));
    this.#isTemplate = (templateId, packageName) => templates.some((matches) => matches(templateId, packageName));
    this.#isInterface = (interfaceId) => interfaces.some((matches) => matches(interfaceId));
  }

  /** Returns a created event with the views of these types alone: the same object if it has no others. */
  shown(created: CreatedEvent): CreatedEvent {
    const interfaceViews = created.interfaceViews.filter(({ interfaceId }) => this.#isInterface(interfaceId));
    return interfaceViews.length === created.interfaceViews.length ? created : { ...created, interfaceViews };
  }

  /**
   * Returns the events of an update that concern these types.
   *
   * @param isSelected - whether a contract is of these types, before the update
   */
  eventsOf(events: readonly UpdateEvent[], isSelected: (contractId: string) => boolean): readonly UpdateEvent[] {
    return events.flatMap((event): readonly UpdateEvent[] => {
      switch (event._tag) {
        case 'CreatedEvent':
          return this.#selects(event) ? [this.shown(event)] : [];
        case 'AssignedEvent':
          return this.#selects(event.createdEvent) ? [{ ...event, createdEvent: this.shown(event.createdEvent) }] : [];
        case 'UnassignedEvent':
          return isSelected(event.contractId) || this.#isTemplateOf(event) ? [event] : [];
        case 'ArchivedEvent':
        case 'ExercisedEvent':
          return this.#partOf(event, isSelected);
        default:
          return [event];
      }
    });
  }

  #isTemplateOf({ templateId, packageName }: Partial<Pick<UnassignedEvent, 'templateId' | 'packageName'>>): boolean {
    return templateId !== undefined && this.#isTemplate(templateId, packageName);
  }

  #partOf(
    event: ArchivedEvent | ExercisedEvent,
    isSelected: (contractId: string) => boolean,
  ): readonly (ArchivedEvent | ExercisedEvent)[] {
    const { contractId } = event;
    const implementedInterfaces = event.implementedInterfaces.filter((id) => this.#isInterface(id));
    const isOfThese = isSelected(contractId) || implementedInterfaces.length > 0 || this.#isTemplateOf(event);
    return isOfThese ? [{ ...event, implementedInterfaces }] : [];
  }
}
