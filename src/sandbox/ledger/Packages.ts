import { makePackageId } from '../wire/values.js';
import type { TemplateRef, WireCreatedEvent } from '../wire/WireEvent.js';

/** Known packages: their names, and the interfaces of their templates. A package is known once an update or request names it. */
export class Packages {
  readonly #names = new Map<string, string>();
  readonly #interfaces = new Map<string, readonly string[]>();

  /** Adds the package name and the interfaces that a contract shows. */
  add({ templateId, packageName, interfaceViews }: WireCreatedEvent): void {
    this.#names.set(templateId.slice(0, templateId.indexOf(':')), packageName);
    const interfaces = interfaceViews.map(({ interfaceId }) => interfaceId);
    if (interfaces.length > 0) this.#interfaces.set(templateId, interfaces);
  }

  /** The known interfaces of a template, by package id. */
  interfacesOf(templateId: string): readonly string[] {
    return this.#interfaces.get(templateId) ?? [];
  }

  /** Resolves an identifier, either `#name:Module:Entity` or with a package id. */
  resolve(identifier: string): TemplateRef {
    const split = identifier.indexOf(':');
    const [head, rest] = [identifier.slice(0, split), identifier.slice(split)];
    if (!head.startsWith('#')) return { id: identifier, packageName: this.nameOf(head) };
    const packageName = head.slice(1);
    const packageId = makePackageId(packageName);
    this.#names.set(packageId, packageName);
    return { id: packageId + rest, packageName };
  }

  /** Whether an identifier in either form refers to the same entity as one with a package id. */
  matches(identifier: string, actual: string): boolean {
    if (!identifier.startsWith('#')) return identifier === actual;
    const split = actual.indexOf(':');
    return identifier === `#${this.nameOf(actual.slice(0, split))}${actual.slice(split)}`;
  }

  /** The name of a package; a package without a known name gets one from its id. */
  private nameOf(packageId: string): string {
    return this.#names.get(packageId) ?? `package-${packageId.slice(0, 8)}`;
  }
}
