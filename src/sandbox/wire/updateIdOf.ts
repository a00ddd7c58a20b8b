import { hex } from './hex.js';

/** An update id: a multihash. */
export function updateIdOf(...parts: readonly (string | number)[]): string {
  return `1220${hex('update', ...parts)}`;
}
