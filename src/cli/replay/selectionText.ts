import type { Selection } from '../arguments/Selection.js';

/** What a selection asks for, as text: the same for the same, in whatever order it was given. */
export const selectionText = ({ format, variants, synchronizers }: Selection): string =>
  JSON.stringify({ format: sorted(format), variants: [...variants].sort(), synchronizers: [...synchronizers].sort() });

/** Objects with their keys, and lists, in order: all lists of a format are sets. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value))
    return value
      .map(sorted)
      .map((element) => ({ element, text: JSON.stringify(element) }))
      .sort((a, b) => (a.text < b.text ? -1 : 1))
      .map(({ element }) => element);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, content]) => [key, sorted(content)]),
  );
}
