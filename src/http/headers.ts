/**
 * Returns headers with their names in lower case. Throws a TypeError for what cannot be sent, and for a header without a value,
 * such as that of a variable that is not set: the platform would send the text `undefined`.
 */
export function parseHeaders(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const [absent] = absentIn(headers);
  if (absent !== undefined) throw new TypeError(`headers: ${absent} has no value`);
  try {
    return Object.fromEntries(new Headers(headers));
  } catch {
    // the platform's message quotes the value
    throw new TypeError('headers contains an invalid name or value');
  }
}

/** Returns headers without those that have no value. Throws for what cannot be sent. */
export function presentHeaders(headers: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const present = new Headers(headers);
  for (const name of absentIn(headers)) present.delete(name);
  return Object.fromEntries(present);
}

/** The names of the headers without a value, despite the types. */
const absentIn = (headers: Readonly<Record<string, string>>): readonly string[] =>
  Object.entries<unknown>(headers).flatMap(([name, value]) => (value === undefined || value === null ? [name] : []));
