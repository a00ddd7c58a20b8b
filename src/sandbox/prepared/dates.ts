const dayMs = 24 * 3600 * 1000;

/** The days since the epoch of a date; `NaN` if it is none. */
export function daysOf(date: string): number {
  return Date.parse(`${date}T00:00:00Z`) / dayMs;
}

/** The date of so many days since the epoch; the empty text if there is none. */
export function dateOf(days: number): string {
  const date = new Date(days * dayMs);
  return Number.isNaN(date.getTime()) ? '' : date.toISOString().slice(0, 10);
}
