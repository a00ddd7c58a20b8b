const format = new Intl.NumberFormat('en-US');

/** `1,234`: the one format of all counts and offsets, as Angular's `number` pipe has it. */
export const numeral = (value: number): string => format.format(value);
