/** Throws a TypeError for an option that is no time, or number of things: a mistake in the program, not of the ledger. */
export function checkPositive(options: Readonly<Record<string, number>>, isWhole = false): void {
  for (const [name, value] of Object.entries(options))
    if (!(value > 0) || (isWhole && !Number.isSafeInteger(value))) throw new TypeError(`${name} makes no sense`);
}
