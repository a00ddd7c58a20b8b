import { filter, type Observable } from 'rxjs';
import type { ArchivedEvent, CreatedEvent, ExercisedEvent } from '../codecs/Event.js';
import type { AssignedEvent, UnassignedEvent } from '../codecs/Reassignment.js';
import { TemplateId } from '../codecs/scalars.js';
import type { Update } from '../codecs/Update.js';
import type { EventOf } from './toEvents.js';

/** The events of a contract, which has a template. */
export type TemplateEvent = CreatedEvent | ArchivedEvent | ExercisedEvent | UnassignedEvent | AssignedEvent;

/**
 * Passes the events of contracts of the given templates, and narrows the type to events that have a template.
 *
 * It operates on events: apply `toEvents()` first to a stream of updates, which is a type error here. A template has one of
 * three forms, in which `Module` may be a dotted path:
 * - `Module:Entity`, in any package;
 * - `#package-name:Module:Entity`, in all versions of that package;
 * - `package-id:Module:Entity`, in exactly that version of the package.
 *
 * An assignment passes by the template of its `createdEvent`, an exercise by the template of its contract, even if the
 * choice belongs to an interface. Topology events, events of an unknown kind, and an unassignment from a 3.3 ledger without
 * a template do not pass. Order, errors and completion are those of the source.
 *
 * @param template - a template
 * @param templates - further templates
 * @throws TypeError synchronously, before any subscription, if a template has none of the three forms
 *
 * @example
 * ```ts
 * import { of } from 'rxjs';
 * import { ofTemplate, type Event } from 'canton-rx';
 *
 * const archived: Event = {
 *   _tag: 'ArchivedEvent',
 *   offset: 7,
 *   nodeId: 0,
 *   contractId: '00ab',
 *   templateId: '1220ab:Finance.Bonds:Bond',
 *   packageName: 'finance',
 *   witnessParties: ['alice::1220ab'],
 *   implementedInterfaces: [],
 * };
 *
 * of(archived)
 *   .pipe(ofTemplate('#finance:Finance.Bonds:Bond', 'Main:Asset'))
 *   .subscribe((event) => {
 *     console.log(event._tag, event.packageName); // ArchivedEvent finance
 *   });
 * ```
 */
export function ofTemplate(
  template: string,
  ...templates: readonly string[]
): <A extends EventOf<Update>>(source: Observable<A>) => Observable<Extract<A, TemplateEvent>> {
  const patterns = [template, ...templates].map(templatePattern);
  const matches = <A extends EventOf<Update>>(event: A): event is Extract<A, TemplateEvent> => {
    const found = templateOf(event);
    return found !== undefined && patterns.some((isMatch) => isMatch(found));
  };
  return (source) => source.pipe(filter(matches));
}

/** The template of an event. */
interface Template {
  /** `package-id:Module:Entity`. */
  readonly templateId: string;
  /** The name of the package. */
  readonly packageName: string;
}

/**
 * The predicate of a pattern: `Module:Entity`, `#package-name:Module:Entity` or `package-id:Module:Entity`.
 *
 * @throws TypeError if the pattern has none of these forms
 */
function templatePattern(pattern: string): (template: Template) => boolean {
  const isAnyPackage = pattern.split(':').length === 2;
  // Module:Entity is a template id without its package
  if (!TemplateId.is(isAnyPackage ? `#any:${pattern}` : pattern)) {
    throw new TypeError(
      `'${pattern}' is not a template: use Module:Entity, #package-name:Module:Entity or package-id:Module:Entity`,
    );
  }
  if (isAnyPackage) return ({ templateId }) => withoutPackage(templateId) === pattern;
  if (!pattern.startsWith('#')) return ({ templateId }) => templateId === pattern;
  const name = pattern.slice(1, pattern.indexOf(':'));
  const moduleAndEntity = withoutPackage(pattern);
  return ({ templateId, packageName }) => packageName === name && withoutPackage(templateId) === moduleAndEntity;
}

const withoutPackage = (templateId: string): string => templateId.slice(templateId.indexOf(':') + 1);

function templateOf(event: EventOf<Update>): Template | undefined {
  switch (event._tag) {
    case 'CreatedEvent':
    case 'ArchivedEvent':
    case 'ExercisedEvent':
      return event;
    case 'AssignedEvent':
      return event.createdEvent;
    case 'UnassignedEvent':
      return event.templateId === undefined
        ? undefined
        : { templateId: event.templateId, packageName: event.packageName };
    default:
      return undefined;
  }
}
