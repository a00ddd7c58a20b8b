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

/** What the guide calls a proof. */
const words: Readonly<Record<Proof['outcome'], string>> = {
  committed: 'committed',
  rejected: 'not committed, nor any earlier one',
  refused: 'not committed',
  expired: 'not committed, and late',
  inFlight: 'another is in flight',
  pruned: 'not committed: the period is pruned',
  notSent: 'not sent',
  unknown: 'nothing',
};
const repetitions: Readonly<Record<Proof['again'], string>> = {
  always: 'yes',
  thrice: '3 times',
  twice: '2 times',
  whileOpen: 'if an earlier one is open',
  never: 'no',
};

/** The rows of the guide's table of codes, one for each code. */
function rowsOfGuide(): Readonly<Record<string, readonly string[]>> {
  const guide = readFileSync(join(import.meta.dirname, '../../docs/outcomes.md'), 'utf8');
  const [, section = ''] = guide.split('## What an error proves');
  const rows = section.split('\n## ')[0]?.match(/^\| `.*$/gm) ?? [];
  return Object.fromEntries(
    rows.flatMap((row) => {
      const [codes = '', ...cells] = row.slice(1, -1).split('|');
      const texts = cells.map((cell) => cell.trim());
      return (codes.match(/[A-Z_]+/g) ?? []).map((code) => [code, texts] as const);
    }),
  );
}

describe('the table of codes', () => {
  it('is the one of the guide on submitting', () => {
    const expected = Object.entries(codeMeanings).map(([code, { signed, hosted, concerns }]) => {
      const cells = [hosted, signed].flatMap(({ outcome, again }) => [words[outcome], repetitions[again]]);
      return [code, [...cells, concerns]] as const;
    });
    expect(rowsOfGuide()).toEqual(Object.fromEntries(expected));
  });

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
