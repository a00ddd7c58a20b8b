import { cantonError } from '../errors/cantonError.js';
import { Refusal } from '../errors/Refusal.js';

/** The refusal of a list beyond the limit: it looks retryable, and is not. */
export function listTooLong(count: number, max: number): Refusal {
  const cause = `The number of matching elements (${count}) is greater than the node limit (${max}).`;
  const body = cantonError('JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED', { cause, definiteAnswer: false });
  // made by the JSON layer, which adds no context
  return new Refusal(413, { ...body, context: {} });
}
