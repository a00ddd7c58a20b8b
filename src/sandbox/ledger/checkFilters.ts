import { type RequestError, requestError } from '../errors.js';
import type { EventFormat } from '../requests/formats.js';
import type { EntityKind, Packages } from './Packages.js';

/**
 * Rejects formats with filters for unknown packages, templates or interfaces, as a participant does at the start of a
 * stream. An interface that no known template implements, and a party that the participant does not host, select
 * nothing.
 */
export function checkFilters(packages: Packages, ...formats: readonly (EventFormat | undefined)[]): void {
  const filters = formats.flatMap((format) => [...(format?.byParty.values() ?? []), format?.anyParty ?? []]).flat();
  const idsOf = (kind: EntityKind): readonly string[] => [
    ...new Set(filters.flatMap((filter) => (filter.kind === kind ? filter.id : []))),
  ];
  const unknown = (kind: EntityKind): readonly string[] => idsOf(kind).filter((id) => !packages.has(id, kind));
  const [templates, interfaces] = [unknown('template'), unknown('interface')];
  const all = [...templates, ...interfaces];

  const names = new Set(all.filter(hasName).map((id) => id.slice(1, id.indexOf(':'))));
  reject(
    'PACKAGE_NAMES_NOT_FOUND',
    'The following package names do not match upgradable packages uploaded on this participant',
    [...names].filter((name) => !packages.hasName(name)),
  );
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
