/** Of Angular 22 for a body that is larger than it reads; negative where its site has a page on it. */
const tooLarge = 2825;

/** What it reads on a server by default, in bytes. It says how much only where it is built for development. */
const byDefault = 2 ** 20;

/** How much Angular reads of a body, if that is what an answer was too large for. */
export function bodyLimitOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('code' in error) || Math.abs(Number(error.code)) !== tooLarge) return undefined;
  const [, bytes = byDefault] = /\((\d+) bytes\)/.exec(error.message) ?? [];
  return Number(bytes);
}
