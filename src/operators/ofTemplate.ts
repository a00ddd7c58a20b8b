import { filter, type Observable } from 'rxjs';
import type { ArchivedEvent, CreatedEvent, ExercisedEvent } from '../codecs/Event.js';
import type { AssignedEvent, UnassignedEvent } from '../codecs/Reassignment.js';
import { TemplateId } from '../codecs/scalars.js';
import type { Update } from '../codecs/Update.js';
import type { EventOf } from './toEvents.js';

/** The events that tell of a contract, and so of its template. */
export type TemplateEvent = CreatedEvent | ArchivedEvent | ExercisedEvent | UnassignedEvent | AssignedEvent;

/**
 * Passes the events of contracts of the given templates, and narrows the type to events that have a template.
 *
 * A template is written in one of three ways, its module dotted where it has a path:
 * - `Module:Entity`, of whatever package;
 * - `#package-name:Module:Entity`, of that package through all its upgrades;
 * - `package-id:Module:Entity`, of exactly that version of the package.
 *
 * An assignment passes by the template of its `createdEvent`, an exercise by the template of its contract, though the
 * choice be an interface's. Topology events, events of an unknown kind and an unassignment from a 3.3 ledger that leaves
 * the template out do not pass. Order, errors and completion are those of the source.
 *
 * @param template - a template
 * @param templates - further templates
 * @throws TypeError at once, before any subscription, where a template is written in none of the three ways
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

/** A template as an event names it. */
interface Template {
  /** `package-id:Module:Entity`. */
  readonly templateId: string;
  /** The name of the package. */
  readonly packageName: string;
}

/**
 * The predicate that a pattern stands for: `Module:Entity`, `#package-name:Module:Entity` or `package-id:Module:Entity`.
 *
 * @throws TypeError where the text is none of them
 */
function templatePattern(pattern: string): (template: Template) => boolean {
  const anyPackage = pattern.split(':').length === 2;
  // Module:Entity is a template id without its package
  if (!TemplateId.is(anyPackage ? `#any:${pattern}` : pattern)) {
    throw new TypeError(
      `'${pattern}' is no template: Module:Entity, #package-name:Module:Entity or package-id:Module:Entity`,
    );
  }
  if (anyPackage) return ({ templateId }) => withoutPackage(templateId) === pattern;
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
