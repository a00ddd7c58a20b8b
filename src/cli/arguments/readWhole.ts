import { UsageError } from './UsageError.js';

/** A whole number that an option has, or its default. */
export function readWhole(option: string, text: string | undefined, fallback: number, most = Number.MAX_SAFE_INTEGER) {
  if (text === undefined) return fallback;
  const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (number <= most) return number;
  throw new UsageError(`--${option} is a whole number from 0 to ${most}, not '${text}'`);
}
