import type { PackageEntities } from '../SandboxContents.js';
import type { SeenTemplate } from '../wire/events.js';
import { makePackageId } from '../wire/values.js';
import type { TemplateRef } from '../wire/WireEvent.js';

/** The entities by which contracts can be filtered. */
export type EntityKind = 'template' | 'interface';

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
  /** By package id. */
  readonly #entities: Readonly<Record<EntityKind, Set<string>>> = { template: new Set(), interface: new Set() };

  constructor() {
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

  /** Resolves an identifier, either `#name:Module:Entity` or with a package id. From then on, the entity is known. */
  resolve(identifier: string, kind: EntityKind = 'template'): TemplateRef {
    const head = packageOf(identifier);
    const packageName = head.startsWith('#') ? head.slice(1) : this.nameOf(head);
    const packageId = head.startsWith('#') ? makePackageId(packageName) : head;
    if (packageId !== head) this.#names.set(packageId, packageName);
    const id = packageId + identifier.slice(head.length);
    this.#entities[kind].add(id);
    return { id, packageName };
  }

  /** Whether a package of that name is known. */
  hasName(packageName: string): boolean {
    const { template, interface: interfaces } = this.#entities;
    const packageIds = new Set([...template, ...interfaces].map(packageOf).concat(...this.#names.keys()));
    return [...packageIds].some((packageId) => this.nameOf(packageId) === packageName);
  }

  /** Whether an identifier in either form refers to a known entity. */
  has(identifier: string, kind: EntityKind): boolean {
    return [...this.#entities[kind]].some((actual) => this.matches(identifier, actual));
  }

  /** Whether an identifier in either form refers to the same entity as one with a package id. */
  matches(identifier: string, actual: string): boolean {
    if (!identifier.startsWith('#')) return identifier === actual;
    const packageId = packageOf(actual);
    return identifier === `#${this.nameOf(packageId)}${actual.slice(packageId.length)}`;
  }

  /** The name of a package; a package without a known name gets one from its id. */
  private nameOf(packageId: string): string {
    return this.#names.get(packageId) ?? `package-${packageId.slice(0, 8)}`;
  }
}

const packageOf = (identifier: string): string => identifier.slice(0, identifier.indexOf(':'));
