import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { errorOf } from '../../src/errors/readAnswer.js';
import { rejectionReason } from '../../src/errors/rejectionReason.js';
import { ApiError } from '../../src/index.js';
import { codeMeanings, type Kind, type Proof } from '../../src/submission/codes.js';
import { prove } from '../../src/submission/outcome.js';
import { type KnownCode, knownCodes } from '../fixtures/errors/codes.js';
import { errorBody } from '../helpers/wire.js';

/** An error of the ledger as a client sees it. */
function answer({ code, errorCategory, status, isRedacted }: KnownCode): ApiError {
  const body = isRedacted ? errorBody('NA', -1) : errorBody(code, errorCategory);
  const error = errorOf({ path: '/x', status, text: JSON.stringify(body) });
  // an error of reading has a class of its own, and is none of a submission
  return error instanceof ApiError ? error : new ApiError({ path: '/x', status });
}

/** What every known code proves, one line each. */
const verdicts = [...new Map(knownCodes.map((known) => [known.code, known])).values()]
  .map((known) => {
    const error = answer(known);
    const proofOf = (kind: Kind): string => {
      const { outcome, again } = prove(error, kind);
      return `${outcome} ${again}`;
    };
    const { concerns = 'one', source = 'its category' } = codeMeanings[known.code] ?? {};
    const reason = rejectionReason(error);
    const from = known.isRedacted ? 'the participant withholds the code' : source;
    return [
      known.code,
      known.errorCategory,
      known.status,
      proofOf('signed'),
      proofOf('hosted'),
      concerns,
      reason,
      from,
    ];
  })
  .map((columns) => columns.join('\t'))
  .sort();

const header = 'code\tcategory\tstatus\tsigned\thosted\tconcerns\treason\tfrom';
const file = join(import.meta.dirname, '../fixtures/errors/verdicts.tsv');

describe('the table of codes', () => {
  it('is the one that is written down for readers: UPDATE_VERDICTS=1 writes it again', () => {
    const printed = `${[header, ...verdicts].join('\n')}\n`;
    if (process.env['UPDATE_VERDICTS'] === '1') writeFileSync(file, printed);
    expect(printed).toBe(readFileSync(file, 'utf8'));
  });

  it('has only codes of the ledger, and a source for each', () => {
    const codes = new Set(knownCodes.map(({ code }) => code));
    // of the HTTP layer since 3.6.1
    expect(Object.keys(codeMeanings).filter((code) => !codes.has(code))).toEqual(['REQUEST_TIMEOUT']);
    expect(Object.values(codeMeanings).every(({ source }) => source.length > 5)).toBe(true);
  });

  it('has no row that says the same as the category', () => {
    const same = knownCodes.filter((known) => {
      const row = codeMeanings[known.code];
      if (row === undefined || known.isRedacted) return false;
      const other = answer({ ...known, code: `${known.code}_LIKE` });
      const isSame = (kind: Kind): boolean => JSON.stringify(row[kind]) === JSON.stringify(prove(other, kind));
      return row.concerns === 'one' && isSame('signed') && isSame('hosted');
    });
    expect(same.map(({ code }) => code)).toEqual([]);
  });

  it('lets no refusal of a resent attempt be taken for a proof about an earlier one, unless it was registered', () => {
    const registered = knownCodes.filter((known) => prove(answer(known), 'hosted').outcome === 'rejected');
    for (const { code } of registered)
      expect(code).toMatch(/^(LOCAL_VERDICT|MEDIATOR|NOT_SEQUENCED|SEQUENCER|OUTDATED_TRAFFIC)_/);
    const signed: readonly Proof[] = knownCodes.map((known) => prove(answer(known), 'signed'));
    expect(signed.filter(({ outcome }) => outcome === 'rejected')).toEqual([]);
  });
});
