import type { Command } from '../../codecs/Command.js';
import { type RequestError, requestError } from '../errors.js';
import type { EventSelection } from '../requests/selections.js';
import type { EntityKind, Packages } from './Packages.js';

/**
 * Rejects selections with filters for unknown packages, templates or interfaces, as a participant does at the start of a
 * stream. An interface that no known template implements, and a party that the participant does not host, select
 * nothing.
 */
export function checkFilters(packages: Packages, ...selections: readonly (EventSelection | undefined)[]): void {
  const filters = selections
    .flatMap((selection) => [...(selection?.byParty.values() ?? []), selection?.anyParty ?? []])
    .flat();
  const idsOf = (kind: EntityKind): readonly string[] => [
    ...new Set(filters.flatMap((filter) => (filter.kind === kind ? filter.id : []))),
  ];
  const unknown = (kind: EntityKind): readonly string[] => idsOf(kind).filter((id) => !packages.has(id, kind));
  rejectUnknown(packages, unknown('template'), unknown('interface'));
}

/** Rejects commands that prefer an unknown package. */
export function checkPreference(packages: Packages, preferredIds: readonly string[]): void {
  const unknown = preferredIds.filter((id) => !packages.ids.includes(id));
  if (unknown.length === 0) return;
  const cause = `No package can be selected with the preference [${unknown.join(', ')}]`;
  throw requestError('JSON_API_PACKAGE_SELECTION_FAILED', cause);
}

/** Rejects commands with an unknown package or template. A choice may be that of an interface. */
export function checkTypes(packages: Packages, commands: readonly Command[]): void {
  const isKnown = (command: Command): boolean =>
    packages.has(typeOf(command), 'template') ||
    ('ExerciseCommand' in command && packages.has(typeOf(command), 'interface'));
  const unknown = [...new Set(commands.filter((command) => !isKnown(command)).map(typeOf))];
  rejectUnknownNames(packages, unknown);
  // the JSON layer has already replaced the names of packages by their ids
  const ids = unknown.map((id) => (hasName(id) ? packages.idOf(packages.nameIn(id)) + id.slice(id.indexOf(':')) : id));
  if (ids.length > 0) throw unknownIds(ids, []);
}

/** The template or the interface of a command. */
const typeOf = (command: Command): string =>
  Object.values<{ readonly templateId: string }>(command)[0]?.templateId ?? '';

function rejectUnknownNames(packages: Packages, identifiers: readonly string[]): void {
  const names = new Set(identifiers.filter(hasName).map((id) => packages.nameIn(id)));
  reject(
    'PACKAGE_NAMES_NOT_FOUND',
    'The following package names do not match upgradable packages uploaded on this participant',
    [...names].filter((name) => !packages.hasName(name)),
  );
}

function rejectUnknown(packages: Packages, templates: readonly string[], interfaces: readonly string[]): void {
  const all = [...templates, ...interfaces];
  rejectUnknownNames(packages, all);
  reject(
    'NO_TEMPLATES_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME',
    'The following package-name/template qualified-name pairs do not reference any template-id uploaded on this participant',
    templates.filter(hasName).map(toPair),
  );
  reject(
    'NO_INTERFACE_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME',
    'The following package-name/interface qualified-name pairs do not reference any interface-id uploaded on this participant',
    interfaces.filter(hasName).map(toPair),
  );
  if (all.length > 0) throw unknownIds(templates, interfaces);
}

/** The error of identifiers with package ids, which 3.4 accepts. */
function unknownIds(templates: readonly string[], interfaces: readonly string[]): RequestError {
  const kinds = [
    { ids: templates, name: 'Templates', resource: 'ErrorResource(TEMPLATE_ID)' },
    { ids: interfaces, name: 'Interfaces', resource: 'ErrorResource(INTERFACE_ID)' },
  ].filter(({ ids }) => ids.length > 0);
  const cause = kinds.map(({ ids, name }) => `${name} do not exist: [${ids.join(', ')}].`).join(' ');
  const resources = kinds.flatMap(({ ids, resource }) => ids.map((id) => [resource, id] as const));
  return requestError('TEMPLATES_OR_INTERFACES_NOT_FOUND', cause, { resources });
}

const hasName = (identifier: string): boolean => identifier.startsWith('#');

const toPair = (identifier: string): string => `(${identifier.slice(1).replace(':', ',')})`;

/** Rejects unknown identifiers. A participant reports all identifiers with the same fault, and only in the text. */
function reject(code: string, cause: string, unknown: readonly string[]): void {
  if (unknown.length > 0) throw requestError(code, `${cause}: [${unknown.join(', ')}].`);
}
