import { Refusal } from '../errors/Refusal.js';

/** An integer of the query, `undefined` if it is not there. */
export function readInteger(query: URLSearchParams, name: string): number | undefined {
  const value = query.get(name);
  if (value === null) return undefined;
  if (!/^[+-]?\d{1,19}$/.test(value)) throw new Refusal(400, `Invalid value for: query parameter ${name}`);
  return Number(value);
}
