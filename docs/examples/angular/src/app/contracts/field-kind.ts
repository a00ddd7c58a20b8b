/** What a value of a payload looks like. The payload has no types: numbers, dates and parties are strings in it. */
export type FieldKind = 'party' | 'contract' | 'number' | 'date' | 'time' | 'flag' | 'text' | 'json';

const patterns: readonly (readonly [FieldKind, RegExp])[] = [
  ['party', /^\S+::[0-9a-f]{4,}$/],
  ['contract', /^00[0-9a-f]{30,}$/],
  ['date', /^\d{4}-\d\d-\d\d$/],
  ['time', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/],
  // not 007, which is a text
  ['number', /^-?(0|[1-9]\d*)(\.\d+)?$/],
];

/** The kind of a value; `undefined` for an absent one, which may be of any kind. */
export function kindOf(value: unknown): FieldKind | undefined {
  if (value === null || value === undefined) return undefined;
  if (typeof value === 'boolean') return 'flag';
  if (typeof value === 'number') return 'number';
  if (typeof value !== 'string') return 'json';
  return patterns.find(([, pattern]) => pattern.test(value))?.[0] ?? 'text';
}

/** The kind of a column with values of two kinds. */
export function commonKind(one: FieldKind | undefined, other: FieldKind | undefined): FieldKind | undefined {
  if (one === undefined || other === undefined || one === other) return one ?? other;
  return one === 'json' || other === 'json' ? 'json' : 'text';
}
