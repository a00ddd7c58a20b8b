import { asyncScheduler } from 'rxjs';

/** The `Retry-After` header, a number of seconds or a date, in milliseconds from now. */
export function retryAfterMs(header: string | undefined): number | undefined {
  if (header === undefined) return undefined;
  const seconds = Number(header);
  const wait = Number.isNaN(seconds) ? Date.parse(header) - asyncScheduler.now() : seconds * 1000;
  return Number.isFinite(wait) ? Math.max(0, wait) : undefined;
}
