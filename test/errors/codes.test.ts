import { describe, expect, it } from '@jest/globals';
import { errorOf } from '../../src/errors/ApiError.js';
import { verdict } from '../../src/errors/verdict.js';
import { knownCodes, type KnownCode } from '../fixtures/errors/codes.js';
import { errorBody } from '../helpers/wire.js';

type Verdict = ReturnType<typeof verdict>;

const exceptions: Readonly<Record<string, Verdict>> = {
  JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED: 'shrink',
  DEPRECATED_API_DISABLED: 'switch',
  ACCESS_TOKEN_EXPIRED: 'refresh',
  LOCAL_VERDICT_LEDGER_TIME_OUT_OF_BOUND: 'stop',
  LOCAL_VERDICT_PREPARATION_TIME_OUT_OF_BOUND: 'stop',
  LOCAL_VERDICT_MAX_RECORD_TIME_EXCEEDED: 'stop',
};

/** The verdict of the ledger's documentation by category, or by status if the category is withheld. */
function documentedVerdict({ code, errorCategory, status, isRedacted }: KnownCode): Verdict {
  if (isRedacted) return status === 401 ? 'refresh' : 'stop';
  return exceptions[code] ?? ([1, 2, 3, 12].includes(errorCategory) ? 'retry' : 'stop');
}

const actualVerdict = ({ code, errorCategory, status, isRedacted }: KnownCode): Verdict =>
  verdict(
    errorOf({
      path: '/v2/updates',
      status,
      text: JSON.stringify(isRedacted ? errorBody('NA', -1) : errorBody(code, errorCategory)),
    }),
  );

describe('every error code of the ledger', () => {
  it('is listed', () => {
    expect(knownCodes.length).toBeGreaterThan(400);
    expect(knownCodes.some(({ isRedacted }) => isRedacted)).toBe(true);
  });

  it.each(knownCodes)('has the verdict of its category: $code, $errorCategory, $status', (error) => {
    expect(actualVerdict(error)).toBe(documentedVerdict(error));
  });
});
