import { Refusal } from '../errors/Refusal.js';

/** The refusal of a body that cannot be decoded. */
export function undecodable(reason: string): Refusal {
  return new Refusal(400, `Invalid value for: body (${reason})`);
}
