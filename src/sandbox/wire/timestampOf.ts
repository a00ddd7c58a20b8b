/** An ISO timestamp with as many fraction digits as it needs: none, three or six. */
export function timestampOf(micros: number): string {
  const iso = new Date(Math.floor(micros / 1000)).toISOString();
  const below = micros % 1000;
  if (below !== 0) return `${iso.slice(0, -1)}${String(below).padStart(3, '0')}Z`;
  return iso.endsWith('.000Z') ? `${iso.slice(0, -5)}Z` : iso;
}
