import type { WireCantonError } from '../wire/WireCantonError.js';
import { errorCategories } from './errorCategories.js';
import { errorCodes } from './errorCodes.js';

/** What participants reduce errors of these categories to. Internal errors have a second source, the JSON layer. */
const redacted = new Set([5, 6, 7, 14]);

/**
 * Builds the body of an error, with the category, gRPC code and retry hint that belong to a well-known
 * code. An unknown code counts as category 9. `'UNAUTHENTICATED'` and `'PERMISSION_DENIED'` come out redacted
 * to `'NA'`, as participants answer them.
 *
 * @param code - such as `'SUBMISSION_ALREADY_IN_FLIGHT'`
 * @param overrides - fields to set otherwise
 */
export function cantonError(code: string, overrides: Partial<WireCantonError> = {}): WireCantonError {
  const category = overrides.errorCategory ?? errorCodes.get(code) ?? 9;
  const known = errorCategories[category];
  const common = {
    correlationId: null,
    traceId: null,
    resources: [],
    grpcCodeValue: known?.grpc ?? null,
    retryInfo: known?.retried === true ? '1 second' : null,
    definiteAnswer: null,
  };
  if (code === 'NA' || redacted.has(category)) {
    const cause = 'A security-sensitive error has been received';
    return { ...common, context: {}, ...overrides, code: 'NA', cause, errorCategory: -1 };
  }
  const context = {
    participant: 'sandbox',
    category: String(category),
    definite_answer: 'false',
    ...overrides.context,
  };
  return { ...common, code, cause: code, errorCategory: category, ...overrides, context };
}
