/** Keeps the processor busy. */
export function burn(us: number): void {
  const until = performance.now() + us / 1_000;
  while (performance.now() < until);
}
