/** Numbers by the names of their options. An absent option has a default, and is valid. */
type NumberOptions = Readonly<Record<string, number | undefined>>;

/** Throws a TypeError if an option is not a positive number, or not a whole number where `isWhole` is set. */
export function checkPositive(options: NumberOptions, isWhole = false): void {
  checkNumbers(options, isWhole, 'positive', (value) => value > 0);
}

/** Throws a TypeError if an option is not a number from 0, or not a whole number where `isWhole` is set. */
export function checkNotNegative(options: NumberOptions, isWhole = false): void {
  checkNumbers(options, isWhole, 'non-negative', (value) => value >= 0);
}

/** Throws a TypeError for what is not an offset. Unlike an option, it must not be absent. */
export function checkOffset(offset: unknown): void {
  checkNotNegative({ offset: typeof offset === 'number' ? offset : Number.NaN }, true);
}

/** NaN, for example from `Number(undefined)`, is never in range. */
function checkNumbers(
  options: NumberOptions,
  isWhole: boolean,
  range: string,
  isInRange: (value: number) => boolean,
): void {
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue;
    // despite the types, the value may be text, which compares like a number
    const isValid = typeof value === 'number' && isInRange(value) && (!isWhole || Number.isSafeInteger(value));
    if (!isValid)
      throw new TypeError(`${name} is out of range: it must be a ${range} ${isWhole ? 'whole ' : ''}number`);
  }
}
