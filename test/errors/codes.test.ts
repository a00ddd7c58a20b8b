import { describe, expect, it } from '@jest/globals';
import { errorOf } from '../../src/errors/ApiError.js';
import { verdict, type Verdict } from '../../src/errors/verdict.js';
import { knownCodes, type KnownCode } from '../helpers/knownCodes.js';
import { canton } from '../helpers/scripted.js';

const exceptions: Readonly<Record<string, Verdict>> = {
  JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED: 'shrink',
  DEPRECATED_API_DISABLED: 'switch',
  ACCESS_TOKEN_EXPIRED: 'refresh',
  LOCAL_VERDICT_LEDGER_TIME_OUT_OF_BOUND: 'stop',
  LOCAL_VERDICT_PREPARATION_TIME_OUT_OF_BOUND: 'stop',
  LOCAL_VERDICT_MAX_RECORD_TIME_EXCEEDED: 'stop',
};

/** What the ledger's documentation says of the category, and of the status where the category is not told. */
function advice({ code, errorCategory, status, isRedacted }: KnownCode): Verdict {
  if (isRedacted) return status === 401 ? 'refresh' : 'stop';
  return exceptions[code] ?? ([1, 2, 3, 12].includes(errorCategory) ? 'retry' : 'stop');
}

const answered = ({ code, errorCategory, status, isRedacted }: KnownCode): Verdict =>
  verdict(
    errorOf({
      path: '/v2/updates',
      status,
      text: JSON.stringify(isRedacted ? canton('NA', -1) : canton(code, errorCategory)),
    }),
  );

describe('every error code of the ledger', () => {
  it('is known here', () => {
    expect(knownCodes.length).toBeGreaterThan(400);
    expect(knownCodes.some(({ isRedacted }) => isRedacted)).toBe(true);
  });

  it.each(knownCodes)('has the verdict that its category asks for: $code, $errorCategory, $status', (error) => {
    expect(answered(error)).toBe(advice(error));
  });
});
