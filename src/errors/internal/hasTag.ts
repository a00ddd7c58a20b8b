/** Whether a value is an error with this `_tag`. By tag, not by class: two copies of a package have two classes. */
export const hasTag = (u: unknown, tag: string): boolean =>
  typeof u === 'object' && u !== null && '_tag' in u && u._tag === tag;
