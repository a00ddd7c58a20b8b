import type { Command } from '../../codecs/Command.js';
import { type RequestError, requestError } from '../errors.js';
import type { EventSelection } from '../requests/selections.js';
import { makePackageId } from '../wire/values.js';
import type { SeenTemplate, TemplateRef } from '../wire/WireUpdate.js';
import type { PackageEntities } from './PackageEntities.js';

/** The entities by which contracts can be filtered. */
type EntityKind = 'template' | 'interface';

/** An interface instance that a later version of a package gives to a template. */
interface Instance {
  readonly packageName: string;
  /** `:Module:Entity` */
  readonly entity: string;
  readonly interfaceId: string;
  /** The id of the version. */
  readonly packageId: string;
  /** Computes the view of a contract from its arguments. */
  readonly view: (createArgument: unknown) => unknown;
}

/** The packages of generated traffic, and a package with a field of each type. They are known from the start. */
const ownPackages: Readonly<Record<string, PackageEntities>> = {
  'sandbox-api': { interfaces: ['Api:Holding'] },
  'sandbox-assets': { templates: ['Main:Asset', 'Main:Offer'] },
  'sandbox-tasks': { templates: ['Tasks.Model:Task'] },
  'sandbox-values': { templates: ['Values:Sample'] },
};

/**
 * Known packages: their names, their templates and interfaces, and the interfaces of templates. An entity is known once
 * it is uploaded, or once an update or a command names it. It stays known after a restore.
 */
export class Packages {
  readonly #names = new Map<string, string>();
  readonly #interfaces = new Map<string, readonly string[]>();
  /** The ids of the packages of archives, by name: the last one if there are several versions. */
  readonly #archived = new Map<string, string>();
  /** The ids of the latest versions that give templates interfaces, by name. */
  readonly #upgraded = new Map<string, string>();
  readonly #instances: Instance[] = [];
  /** By package id. */
  readonly #entities: Readonly<Record<EntityKind, Set<string>>> = { template: new Set(), interface: new Set() };

  /** With `other`, a copy of it. */
  constructor(other?: Packages) {
    if (other !== undefined) this.addAll(other);
    for (const [packageName, entities] of Object.entries(ownPackages)) this.upload(packageName, entities);
  }

  /** Adds a package, or further entities of a known one. Returns its id. */
  upload(packageName: string, { templates = [], interfaces = [] }: PackageEntities = {}): string {
    if (!/^[^:#]+$/.test(packageName)) throw new TypeError(`'${packageName}' is not a package name`);
    const wrong = [...templates, ...interfaces].find((entity) => !/^[^:]+:[^:]+$/.test(entity));
    if (wrong !== undefined) throw new TypeError(`'${wrong}' is not of the form Module:Entity`);
    const packageId = makePackageId(packageName);
    this.#names.set(packageId, packageName);
    for (const entity of templates) this.#entities.template.add(`${packageId}:${entity}`);
    for (const entity of interfaces) this.#entities.interface.add(`${packageId}:${entity}`);
    return packageId;
  }

  /** Adds packages of which only the names are known. All their templates and interfaces count as known. */
  addArchive(packages: readonly { readonly packageId: string; readonly packageName: string }[]): void {
    for (const { packageId, packageName } of packages) {
      this.#names.set(packageId, packageName);
      this.#archived.set(packageName, packageId);
    }
  }

  /** Adds a version of a package in which a template implements one more interface. Returns its id. */
  addInstance(template: string, interfaceName: string, view: Instance['view']): string {
    const { id, packageName } = this.resolve(template);
    const former = packageOf(id);
    const entity = id.slice(former.length);
    const { id: interfaceId } = this.resolve(interfaceName, 'interface');
    const version = this.#instances.filter((instance) => instance.packageName === packageName).length + 1;
    const packageId = makePackageId(`${packageName}-1.${version}.0`);
    this.#names.set(packageId, packageName);
    this.#upgraded.set(packageName, packageId);
    for (const known of [...this.#entities.template])
      if (packageOf(known) === former) this.#entities.template.add(packageId + known.slice(former.length));
    this.#instances.push({ packageName, entity, interfaceId, packageId, view });
    return packageId;
  }

  /** The interface instances that later versions have given to a template. They hold for earlier contracts, too. */
  instancesOf({ templateId, packageName }: Pick<SeenTemplate, 'templateId' | 'packageName'>): readonly Instance[] {
    if (this.#instances.length === 0) return [];
    const entity = templateId.slice(packageOf(templateId).length);
    return this.#instances.filter((instance) => instance.packageName === packageName && instance.entity === entity);
  }

  /** Adds the package name, the template and the interfaces that an event shows. */
  add({ templateId, packageName, interfaceViews = [] }: SeenTemplate): void {
    this.#names.set(packageOf(templateId), packageName);
    this.#entities.template.add(templateId);
    const interfaces = interfaceViews.map(({ interfaceId }) => interfaceId);
    for (const interfaceId of interfaces) this.#entities.interface.add(interfaceId);
    if (interfaces.length > 0) this.#interfaces.set(templateId, interfaces);
  }

  /** The known interfaces of a template, by package id. */
  interfacesOf(templateId: string): readonly string[] {
    return this.#interfaces.get(templateId) ?? [];
  }

  private addAll(other: Packages): void {
    for (const [packageId, packageName] of other.#names) this.#names.set(packageId, packageName);
    for (const [templateId, interfaces] of other.#interfaces) this.#interfaces.set(templateId, interfaces);
    for (const [packageName, packageId] of other.#archived) this.#archived.set(packageName, packageId);
    for (const [packageName, packageId] of other.#upgraded) this.#upgraded.set(packageName, packageId);
    this.#instances.push(...other.#instances);
    for (const kind of ['template', 'interface'] as const)
      for (const id of other.#entities[kind]) this.#entities[kind].add(id);
  }

  /** Resolves an identifier, either `#name:Module:Entity` or with a package id. From then on, the entity is known. */
  resolve(identifier: string, kind: EntityKind = 'template'): TemplateRef {
    const head = packageOf(identifier);
    const packageName = this.nameIn(identifier);
    const packageId = head.startsWith('#') ? this.idOf(packageName) : head;
    if (packageId !== head) this.#names.set(packageId, packageName);
    const id = packageId + identifier.slice(head.length);
    this.#entities[kind].add(id);
    return { id, packageName };
  }

  /** The ids of the known packages. */
  get ids(): readonly string[] {
    const { template, interface: interfaces } = this.#entities;
    return [...new Set([...template, ...interfaces].map(packageOf).concat(...this.#names.keys()))];
  }

  /** Whether a package of that name is known. */
  hasName(packageName: string): boolean {
    return this.ids.some((packageId) => this.nameOf(packageId) === packageName);
  }

  /** Whether an identifier in either form refers to a known entity. */
  has(identifier: string, kind: EntityKind): boolean {
    if (this.#archived.has(this.nameIn(identifier))) return true;
    return [...this.#entities[kind]].some((actual) => this.matches(identifier, actual));
  }

  /** Whether an identifier in either form refers to the same entity as one with a package id. */
  matches(identifier: string, actual: string): boolean {
    if (!identifier.startsWith('#')) return identifier === actual;
    const packageId = packageOf(actual);
    return identifier === `#${this.nameOf(packageId)}${actual.slice(packageId.length)}`;
  }

  /** The id of the package that a name selects. */
  idOf(packageName: string): string {
    return this.#archived.get(packageName) ?? this.#upgraded.get(packageName) ?? makePackageId(packageName);
  }

  /** The package name of an identifier in either form. */
  nameIn(identifier: string): string {
    const head = packageOf(identifier);
    return head.startsWith('#') ? head.slice(1) : this.nameOf(head);
  }

  /** The name of a package; a package without a known name gets one from its id. */
  private nameOf(packageId: string): string {
    return this.#names.get(packageId) ?? `package-${packageId.slice(0, 8)}`;
  }
}

const packageOf = (identifier: string): string => identifier.slice(0, identifier.indexOf(':'));

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
