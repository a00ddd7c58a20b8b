import { filter, type Observable } from 'rxjs';
import type { ContractType } from '../codecs/ContractType.js';
import { matchId } from '../codecs/decodePayload.js';
import type { ArchivedEvent, CreatedEvent, ExercisedEvent } from '../codecs/Event.js';
import type { AssignedEvent, UnassignedEvent } from '../codecs/Reassignment.js';
import { type CheckedTemplateId, checkTemplateId, TemplateId } from '../codecs/scalars.js';
import type { Update } from '../codecs/Update.js';
import { type ContractEvent, decodeEvents, type DecodeOptions, type UndecodedEvent } from './ContractEvent.js';
import type { EventOf } from './toEvents.js';

/**
 * An event of a contract, and so of a template.
 *
 * @inline
 */
type TemplateEvent = CreatedEvent | ArchivedEvent | ExercisedEvent | UnassignedEvent | AssignedEvent;

/**
 * Emits only the events of contracts of the given types, as for the ids of templates, and decodes what it emits:
 *
 * - A `CreatedEvent`, including that of an assignment, has a typed `payload`.
 * - An `ExercisedEvent` has a typed `argument` and `result`, discriminated by its `choice`. If the type does not define
 *   the choice, the argument stays undecoded.
 * - Archivals and unassignments stay unchanged.
 *
 * Decoded events have the `templateId` of their type as `type`. If a contract matches several types, the first counts;
 * for an exercise, the first that defines the choice. An event belongs to an interface if it contains the interface's
 * view, lists the interface in `implementedInterfaces`, or exercises a choice of it. An unassignment does not name
 * interfaces, so it never matches an interface.
 *
 * An event that belongs to a type and cannot be decoded is not dropped, because you would not notice. The operator fails
 * with a {@link DecodeError}, or emits an `UndecodedEvent` with `onUndecodable: 'emit'`.
 *
 * @param types - types from Daml's code generator, or from `contractType` and `interfaceType`
 * @throws TypeError synchronously, before any subscription, if a type has an invalid template id
 *
 * @example
 * ```ts
 * import { acsDelta, contractType, createLedger, ofEvent, ofTemplate, toEvents } from 'canton-rx';
 * import * as t from 'io-ts';
 *
 * const Asset = contractType('#sandbox-assets:Main:Asset', t.type({ owner: t.string, amount: t.string }));
 *
 * createLedger({ baseUrl: 'http://127.0.0.1:7575' })
 *   .updates({ beginExclusive: 0, endInclusive: 20, updateFormat: acsDelta({ parties: 'any' }) })
 *   .pipe(toEvents(), ofTemplate(Asset), ofEvent('CreatedEvent'))
 *   .subscribe(({ payload }) => {
 *     console.log(payload.owner, payload.amount);
 *   });
 * ```
 * @category Operators
 */
export function ofTemplate<T extends readonly [ContractType, ...ContractType[]]>(
  ...types: T
): <A extends EventOf<Update>>(source: Observable<A>) => Observable<ContractEvent<A, T[number]>>;
export function ofTemplate<T extends readonly [ContractType, ...ContractType[]]>(
  ...typesAndOptions: readonly [...T, DecodeOptions]
): <A extends EventOf<Update>>(
  source: Observable<A>,
) => Observable<ContractEvent<A, T[number]> | UndecodedEvent<T[number]['templateId']>>;
/**
 * Emits only the events of contracts of the given templates, and narrows the type to events that have a template. A
 * template is given by its id, and the events stay as they are; or by its type, and the events are decoded.
 *
 * Its source must be a stream of events: apply `toEvents()` to updates first. A stream of updates is a type error. A
 * template has one of three forms, in which `Module` may be a dotted path:
 *
 * - `Module:Entity`: in any package
 * - `#package-name:Module:Entity`: in all versions of that package
 * - `package-id:Module:Entity`: in exactly that version of the package; a package id has 64 hex digits
 *
 * An assignment matches by the template of its `createdEvent`. An exercise matches by the template of its contract,
 * even if the choice belongs to an interface. Topology events, events of an unknown kind, and unassignments without a
 * template (from a 3.3 ledger) never match. Order, errors and completion are those of the source.
 *
 * @param template - a template
 * @param templates - further templates
 * @throws TypeError synchronously, before any subscription, if a template has none of the three forms, or if ids and
 * types are mixed
 *
 * @example
 * ```ts
 * import { of } from 'rxjs';
 * import { ofTemplate, type TransactionEvent } from 'canton-rx';
 *
 * const archived: TransactionEvent = {
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
 * @category Operators
 */
export function ofTemplate<const I extends string>(
  template: CheckedTemplateId<I>,
  ...templates: readonly CheckedTemplateId<I>[]
): <A extends EventOf<Update>>(source: Observable<A>) => Observable<Extract<A, TemplateEvent>>;
export function ofTemplate(
  ...args: readonly (string | ContractType | DecodeOptions)[]
): (source: Observable<EventOf<Update>>) => Observable<unknown> {
  const ids = args.filter((arg) => typeof arg === 'string');
  if (ids.length === 0) return decodeEvents(args.filter(isType), args.find(isOptions));
  if (ids.length < args.length) throw new TypeError('ofTemplate takes ids of templates or types, not both');
  const patterns = ids.map(templatePattern);
  return filter((event) => {
    const found = event._tag === 'AssignedEvent' ? event.createdEvent : event;
    return 'packageName' in found && patterns.some((matches) => matches(found));
  });
}

const isType = (arg: object | string): arg is ContractType => typeof arg === 'object' && 'templateId' in arg;

const isOptions = (arg: object | string): arg is DecodeOptions => typeof arg === 'object' && !isType(arg);

/** Returns the predicate of `Module:Entity` or of a template id. Throws a TypeError if the text is neither. */
function templatePattern(pattern: string): (event: Pick<UnassignedEvent, 'templateId' | 'packageName'>) => boolean {
  // Module:Entity is a template id without the package
  const isAnyPackage = TemplateId.is(`#any:${pattern}`);
  if (!isAnyPackage) checkTemplateId(pattern);
  const matches = matchId(isAnyPackage ? `#any:${pattern}` : pattern);
  return ({ templateId, packageName }) =>
    templateId !== undefined && matches(templateId, isAnyPackage ? undefined : packageName);
}
