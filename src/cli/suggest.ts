/** The candidate that is most similar to a mistyped text, or starts with it; `undefined` if none is similar. */
export function suggest(text: string, candidates: readonly string[]): string | undefined {
  const maxDistance = text.length < 4 ? 1 : 2;
  const [best] = candidates
    .map((candidate) => ({ candidate, distance: distanceOf(text, candidate) }))
    .filter(({ distance }) => distance <= maxDistance)
    .sort((a, b) => a.distance - b.distance);
  return best?.candidate ?? candidates.find((candidate) => text.length > 1 && candidate.startsWith(text));
}

/** How many characters must be inserted, removed, replaced or swapped with the next one to turn one text into another. */
function distanceOf(a: string, b: string): number {
  const rows: number[][] = [];
  const at = (i: number, j: number): number => rows[i]?.[j] ?? Infinity;
  for (let i = 0; i <= a.length; i += 1) {
    const row: number[] = [];
    rows.push(row);
    for (let j = 0; j <= b.length; j += 1) {
      const replaced = at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwapped ? at(i - 2, j - 2) + 1 : Infinity;
      row.push(i === 0 && j === 0 ? 0 : Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, replaced, swapped));
    }
  }
  return at(a.length, b.length);
}
