import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** An error that the ledger may answer. */
export interface KnownCode {
  readonly code: string;
  readonly errorCategory: number;
  readonly status: number;
  /** Whether the ledger keeps code and category to itself. */
  readonly isRedacted: boolean;
}

/** Every error code of the ledger's releases 3.3 to 3.6 that has a status; those without are logged and never sent. */
export const knownCodes: readonly KnownCode[] = readFileSync(
  join(import.meta.dirname, '..', 'fixtures', 'errors', 'codes.tsv'),
  'utf8',
)
  .trim()
  .split('\n')
  .slice(1)
  .map((line) => line.split('\t'))
  .map(([code = '', errorCategory, status, redacted]) => ({
    code,
    errorCategory: Number(errorCategory),
    status: Number(status),
    isRedacted: redacted === 'yes',
  }))
  .filter(({ status }) => status > 0);
