/** Throws a TypeError for an option that is no time, or number of things: a mistake in the program, not of the ledger. */
export function checkPositive(options: Readonly<Record<string, number>>): void {
  for (const [name, value] of Object.entries(options)) if (!(value > 0)) throw new TypeError(`${name} is not positive`);
}
