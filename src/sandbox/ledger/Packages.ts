import { makePackageId } from '../wire/values.js';
import type { SeenTemplate, TemplateRef, WireInterfaceView } from '../wire/WireUpdate.js';
import type { PackageEntities } from './PackageEntities.js';
import { compareVersions, firstVersion, type PackageVersion, PackageVersions } from './PackageVersions.js';

/** The entities by which contracts can be filtered. */
export type EntityKind = 'template' | 'interface';

/** An interface instance of a template in a later version of a package. */
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

/** Computes a view. It may fail, and the transaction is committed nevertheless. */
export function computeView(
  view: Instance['view'],
  createArgument: unknown,
): Pick<WireInterfaceView, 'viewStatus' | 'viewValue'> {
  try {
    return { viewStatus: { code: 0, message: '', details: [] }, viewValue: view(createArgument) };
  } catch (error) {
    return { viewStatus: { code: 9, message: String(error), details: [] }, viewValue: null };
  }
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
  readonly versions: PackageVersions;
  readonly #instances: Instance[] = [];
  /** By package id. */
  readonly #entities: Readonly<Record<EntityKind, Set<string>>> = { template: new Set(), interface: new Set() };

  /** With `other`, a copy of it. */
  constructor(other?: Packages) {
    this.versions = new PackageVersions(other?.versions);
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
    const { id: interfaceId } = this.resolve(interfaceName, 'interface');
    this.addVersion(packageName, { version: firstVersion, packageId: packageOf(id) });
    const version = this.versions.next(packageName);
    const packageId = versionId(packageName, version);
    this.addVersion(packageName, { version, packageId });
    this.giveInterface({ id: packageId + id.slice(packageOf(id).length), packageName }, interfaceId, view);
    return packageId;
  }

  /** Adds a template of a version of its package. Later versions have it, too. */
  addTemplate(identifier: string, version: string): TemplateRef {
    const head = packageOf(identifier);
    const packageName = this.nameIn(identifier);
    const packageId = head.startsWith('#') ? versionId(packageName, version) : head;
    this.addVersion(packageName, { version, packageId });
    const entity = identifier.slice(head.length);
    for (const other of this.versions.of(packageName))
      if (compareVersions(other.version, version) >= 0) this.#entities.template.add(other.packageId + entity);
    return { id: packageId + entity, packageName };
  }

  /** Gives a template of a version an interface. It holds for the contracts of earlier versions, too. */
  giveInterface({ id, packageName }: TemplateRef, interfaceId: string, view: Instance['view']): void {
    const packageId = packageOf(id);
    const entity = id.slice(packageId.length);
    this.#instances.push({ packageName, entity, interfaceId, packageId, view });
  }

  /**
   * The interface instances of a template in later versions, by the id of the interface: each that of the newest version. They
   * hold for earlier contracts, too.
   */
  instancesOf({ templateId, packageName }: Pick<SeenTemplate, 'templateId' | 'packageName'>) {
    const newest = new Map<string, Instance>();
    if (this.#instances.length === 0) return newest;
    const entity = templateId.slice(packageOf(templateId).length);
    const versionOf = (instance: Instance | undefined) => this.versions.find(instance?.packageId ?? '') ?? '0';
    for (const instance of this.#instances) {
      if (instance.packageName !== packageName || instance.entity !== entity) continue;
      const isNewer = compareVersions(versionOf(instance), versionOf(newest.get(instance.interfaceId))) >= 0;
      if (isNewer) newest.set(instance.interfaceId, instance);
    }
    return newest;
  }

  /** Adds a version, with the templates of the one before it. */
  private addVersion(packageName: string, added: PackageVersion): void {
    const { packageId, version } = added;
    this.#names.set(packageId, packageName);
    this.versions.add(packageName, added);
    const former = this.versions.of(packageName).findLast((other) => compareVersions(other.version, version) < 0);
    if (former === undefined) return;
    for (const known of [...this.#entities.template])
      if (packageOf(known) === former.packageId)
        this.#entities.template.add(packageId + known.slice(former.packageId.length));
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
    this.#instances.push(...other.#instances);
    for (const kind of ['template', 'interface'] as const)
      for (const id of other.#entities[kind]) this.#entities[kind].add(id);
  }

  /**
   * Resolves an identifier, either `#name:Module:Entity` or with a package id. From then on, the entity is known.
   *
   * @param preferred - the ids of packages that their names select, instead of those of the newest versions
   */
  resolve(identifier: string, kind: EntityKind = 'template', preferred: readonly string[] = []): TemplateRef {
    const head = packageOf(identifier);
    const packageName = this.nameIn(identifier);
    const chosen = preferred.find((id) => this.#names.get(id) === packageName);
    const packageId = head.startsWith('#') ? (chosen ?? this.idOf(packageName, kind)) : head;
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

  /** The id of the package that a name selects: of the newest version. An interface stays in the first one. */
  idOf(packageName: string, kind: EntityKind = 'template'): string {
    const version = this.versions.of(packageName).at(kind === 'template' ? -1 : 0);
    return this.#archived.get(packageName) ?? version?.packageId ?? makePackageId(packageName);
  }

  /**
   * The version of its template as which a contract is used: that of the identifier, if it names the template; else, by an
   * interface, the one that the package name selects.
   */
  versionFor(identifier: string, { id, packageName }: TemplateRef, preferred: readonly string[]): TemplateRef {
    const own = `#${packageName}${id.slice(packageOf(id).length)}`;
    const isOwn = this.isSameTemplate(identifier, { id, packageName });
    const isVersioned = this.#archived.has(packageName) || this.versions.of(packageName).length > 0;
    const chosen = isOwn ? identifier : own;
    return chosen.startsWith('#') && !isVersioned ? { id, packageName } : this.resolve(chosen, 'template', preferred);
  }

  /** Whether an identifier in either form refers to a version of a template. */
  isSameTemplate(identifier: string, { id, packageName }: TemplateRef): boolean {
    const entity = id.slice(packageOf(id).length);
    return identifier.slice(packageOf(identifier).length) === entity && this.nameIn(identifier) === packageName;
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

/** The package id of an identifier, or its package name after a `#`. */
export const packageOf = (identifier: string): string => identifier.slice(0, identifier.indexOf(':'));

const versionId = (packageName: string, version: string): string =>
  makePackageId(version === firstVersion ? packageName : `${packageName}-${version}`);
