import { isRecord } from './isRecord.js';
import { undecodable } from './undecodable.js';

/**
 * A place in a request body. Reads as the participant's decoder does: an absent scalar is its zero, an
 * absent list or map is empty, `null` is fine for optional fields only, unknown fields do not matter.
 */
export class Cursor {
  constructor(
    readonly value: unknown,
    readonly at = '',
  ) {}

  get absent(): boolean {
    return this.value === undefined || this.value === null;
  }

  field(name: string): Cursor {
    if (!isRecord(this.value)) throw this.wrong('object');
    return new Cursor(this.value[name], this.at === '' ? name : `${this.at}.${name}`);
  }

  required(name: string): Cursor {
    const found = this.field(name);
    if (found.value === undefined) throw undecodable(`Missing required field at '${found.at}'`);
    return found;
  }

  optional<A>(read: (cursor: Cursor) => A): A | undefined {
    return this.absent ? undefined : read(this);
  }

  string(): string {
    const value = this.value ?? this.zero('');
    if (typeof value !== 'string') throw this.wrong('string');
    return value;
  }

  integer(): number {
    const value = this.value ?? this.zero(0);
    if (typeof value !== 'number' || !Number.isInteger(value)) throw this.wrong('integer');
    return value;
  }

  boolean(): boolean {
    const value = this.value ?? this.zero(false);
    if (typeof value !== 'boolean') throw this.wrong('boolean');
    return value;
  }

  list(): readonly Cursor[] {
    const value = this.value ?? this.zero([]);
    if (!Array.isArray(value)) throw this.wrong('array');
    return value.map((item, index) => new Cursor(item, `${this.at}[${index}]`));
  }

  entries(): readonly (readonly [string, Cursor])[] {
    const value = this.value ?? this.zero({});
    if (!isRecord(value)) throw this.wrong('object');
    return Object.entries(value).map(([key, item]) => [key, new Cursor(item, `${this.at}.${key}`)] as const);
  }

  /** The variant of a one-of and its content. */
  oneOf(): readonly [string, Cursor] {
    const [variant, ...others] = this.entries();
    if (variant === undefined || others.length > 0) throw this.wrong('object with one key');
    return variant;
  }

  oneOfStrings(allowed: readonly string[]): string {
    const value = this.string();
    if (!allowed.includes(value)) throw this.wrong(`value among ${allowed.join(', ')}`);
    return value;
  }

  private zero<A>(value: A): A | null {
    return this.value === undefined ? value : null;
  }

  private wrong(expected: string) {
    return undecodable(`Got a value of another type, expecting ${expected} at '${this.at}'`);
  }
}
