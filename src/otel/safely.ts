/** Does something for telemetry, which must not break what it is about: `undefined` where that fails. */
export function safely<A>(measure: () => A): A | undefined {
  try {
    return measure();
  } catch {
    return undefined;
  }
}
