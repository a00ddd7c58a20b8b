import type { WireUpdate } from '../../../../src/sandbox/index.js';

/** Where an update of the sandbox stands, and its id. */
export function placeOf(update: WireUpdate): { readonly offset: number; readonly updateId: string } {
  const [content] = Object.values(update) as {
    readonly value: { readonly offset: number; readonly updateId: string };
  }[];
  if (content === undefined) throw new Error('an update has a variant');
  return content.value;
}
