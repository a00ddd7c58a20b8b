/** A version of a package. */
export interface PackageVersion {
  /** Such as `1.1.0`. */
  readonly version: string;
  readonly packageId: string;
}

/** The version of a template that names none. */
export const firstVersion = '1.0.0';

/** The versions of packages. A package that has one version only may be absent. */
export class PackageVersions {
  /** By package name, in ascending order. */
  readonly #versions: Map<string, readonly PackageVersion[]>;

  /** With `other`, a copy of it. */
  constructor(other?: PackageVersions) {
    this.#versions = new Map(other === undefined ? [] : other.#versions);
  }

  /** The versions of a package, in ascending order. */
  of(packageName: string): readonly PackageVersion[] {
    return this.#versions.get(packageName) ?? [];
  }

  /** The version of a package id, if it is known. */
  find(packageId: string): string | undefined {
    for (const versions of this.#versions.values()) {
      const found = versions.find((version) => version.packageId === packageId);
      if (found !== undefined) return found.version;
    }
    return undefined;
  }

  /** Adds a version, unless it is known. */
  add(packageName: string, added: PackageVersion): void {
    const known = this.of(packageName);
    if (known.some(({ packageId }) => packageId === added.packageId)) return;
    const all = [...known, added].sort((one, other) => compareVersions(one.version, other.version));
    this.#versions.set(packageName, all);
  }

  /** The version after the newest one, with one more feature. */
  next(packageName: string): string {
    const [major = '1', minor = '0'] = (this.of(packageName).at(-1)?.version ?? firstVersion).split('.');
    return `${major}.${Number(minor) + 1}.0`;
  }
}

/** Compares two versions by their numbers: 1.10.0 is later than 1.9.0. */
export function compareVersions(one: string, other: string): number {
  const [left, right] = [one, other].map((version) => version.split('.').map(Number));
  const length = Math.max(left?.length ?? 0, right?.length ?? 0);
  for (let index = 0; index < length; index++) {
    const difference = (left?.[index] ?? 0) - (right?.[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
