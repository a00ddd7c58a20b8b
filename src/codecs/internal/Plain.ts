/** Which values are right as they are: data, for whoever reads many and would not call a codec for each. */
export type Plain =
  | { readonly kind: 'text' | 'flag' | 'json' | 'texts' | 'none' }
  | { readonly kind: 'whole'; readonly least: number; readonly most: number };

/** No values. */
export const none: Plain = { kind: 'none' };

/** Whether a value is one of those; `null` never is. */
export function isPlain(plain: Plain, value: unknown): boolean {
  switch (plain.kind) {
    case 'text':
      return typeof value === 'string';
    case 'texts':
      return Array.isArray(value) && areTexts(value);
    case 'whole':
      return isWhole(value) && plain.least <= value && value <= plain.most;
    case 'json':
      return value !== undefined && value !== null;
    case 'flag':
      return typeof value === 'boolean';
    case 'none':
      return false;
  }
}

/** Whether a value is a whole number that `JSON.parse` has certainly not rounded. */
const isWhole = (value: unknown): value is number => typeof value === 'number' && Number.isSafeInteger(value);

function areTexts(values: readonly unknown[]): boolean {
  for (const value of values) if (typeof value !== 'string') return false;
  return true;
}
