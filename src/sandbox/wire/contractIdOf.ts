import { hex } from './hex.js';

/** A contract id: the version, a discriminator and an authentication suffix. */
export function contractIdOf(...parts: readonly (string | number)[]): string {
  return `00${hex('contract', ...parts)}ca1112${hex('suffix', ...parts)}`;
}
