import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { errorOf } from '../../src/errors/errorOf.js';
import { verdict, type Verdict } from '../../src/errors/verdict.js';
import { canton } from '../helpers/scripted.js';

interface Known {
  readonly code: string;
  readonly errorCategory: number;
  readonly status: number;
  readonly redacted: boolean;
}

/** Every error code of the ledger's releases 3.3 to 3.6: its category, its HTTP status, and whether it is told. */
const known: readonly Known[] = readFileSync(join(import.meta.dirname, '..', 'fixtures', 'errors', 'codes.tsv'), 'utf8')
  .trim()
  .split('\n')
  .slice(1)
  .map((line) => line.split('\t'))
  .map(([code = '', errorCategory, status, redacted]) => ({
    code,
    errorCategory: Number(errorCategory),
    status: Number(status),
    redacted: redacted === 'yes',
  }))
  // categories that are logged and never sent have no status
  .filter(({ status }) => status > 0);

const exceptions: Readonly<Record<string, Verdict>> = {
  JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED: 'shrink',
  DEPRECATED_API_DISABLED: 'switch',
  ACCESS_TOKEN_EXPIRED: 'refresh',
  LOCAL_VERDICT_LEDGER_TIME_OUT_OF_BOUND: 'stop',
  LOCAL_VERDICT_PREPARATION_TIME_OUT_OF_BOUND: 'stop',
  LOCAL_VERDICT_MAX_RECORD_TIME_EXCEEDED: 'stop',
};

/** What the ledger's documentation says of the category, and of the status where the category is not told. */
function advice({ code, errorCategory, status, redacted }: Known): Verdict {
  if (redacted) return status === 401 ? 'refresh' : 'stop';
  return exceptions[code] ?? ([1, 2, 3, 12].includes(errorCategory) ? 'retry' : 'stop');
}

const answered = ({ code, errorCategory, status, redacted }: Known): Verdict =>
  verdict(
    errorOf({
      path: '/v2/updates',
      status,
      text: JSON.stringify(redacted ? canton('NA', -1) : canton(code, errorCategory)),
    }),
  );

describe('every error code of the ledger', () => {
  it('is known here', () => {
    expect(known.length).toBeGreaterThan(400);
    expect(known.some(({ redacted }) => redacted)).toBe(true);
  });

  it.each(known)('has the verdict that its category asks for: $code, $errorCategory, $status', (error) => {
    expect(answered(error)).toBe(advice(error));
  });
});
