/** Throws a TypeError for a name that JetStream would refuse, sooner or later: a mistake in the program. */
export function checkNames(names: Readonly<Record<string, string>>): void {
  for (const [what, name] of Object.entries(names))
    if (!/^[^\s.*>/\\]+$/.test(name))
      throw new TypeError(`${what} must be a name without blanks, dots, '*', '>' or slashes`);
}
