import { packageIdOf } from '../wire/values.js';
import type { TemplateRef, WireCreatedEvent } from '../wire/WireEvent.js';

/** What is known of packages: their names and what their templates implement. They come to be as they are mentioned. */
export class Packages {
  readonly #names = new Map<string, string>();
  readonly #interfaces = new Map<string, readonly string[]>();

  /** Takes in what a contract tells of its template. */
  learn({ templateId, packageName, interfaceViews }: WireCreatedEvent): void {
    this.#names.set(templateId.slice(0, templateId.indexOf(':')), packageName);
    const interfaces = interfaceViews.map(({ interfaceId }) => interfaceId);
    if (interfaces.length > 0) this.#interfaces.set(templateId, interfaces);
  }

  /** The interfaces that a template is known to implement, by package id. */
  interfacesOf(templateId: string): readonly string[] {
    return this.#interfaces.get(templateId) ?? [];
  }

  /** Takes an identifier in either form, `#name:Module:Entity` or with a package id. */
  resolve(identifier: string): TemplateRef {
    const split = identifier.indexOf(':');
    const [head, rest] = [identifier.slice(0, split), identifier.slice(split)];
    if (!head.startsWith('#')) return { id: identifier, packageName: this.nameOf(head) };
    const packageName = head.slice(1);
    const packageId = packageIdOf(packageName);
    this.#names.set(packageId, packageName);
    return { id: packageId + rest, packageName };
  }

  /** Whether an identifier in either form means one that has the package id. */
  matches(asked: string, actual: string): boolean {
    if (!asked.startsWith('#')) return asked === actual;
    const split = actual.indexOf(':');
    return asked === `#${this.nameOf(actual.slice(0, split))}${actual.slice(split)}`;
  }

  /** A package that nobody named has a name made from its id. */
  private nameOf(packageId: string): string {
    return this.#names.get(packageId) ?? `package-${packageId.slice(0, 8)}`;
  }
}
