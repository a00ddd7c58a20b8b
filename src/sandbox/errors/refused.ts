import type { WireCantonError } from '../wire/WireCantonError.js';
import { cantonError } from './cantonError.js';
import { Refusal } from './Refusal.js';

const httpByGrpc: Readonly<Record<number, number>> = {
  4: 504,
  5: 404,
  6: 409,
  7: 403,
  10: 409,
  13: 500,
  14: 503,
  16: 401,
};

/** The refusal that the participant answers with a given error code. */
export function refused(code: string, cause: string, overrides: Partial<WireCantonError> = {}): Refusal {
  const body = cantonError(code, { cause, ...overrides });
  return new Refusal(httpByGrpc[body.grpcCodeValue ?? 3] ?? 400, body);
}
