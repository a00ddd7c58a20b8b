import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const root = join(import.meta.dirname, '..', '..', '..');

/** The rows of the tables: an id, what happens, what the library does, and the files of the tests. */
const rows = readFileSync(join(root, 'docs', 'guarantees.md'), 'utf8')
  .split('\n')
  .flatMap((line) => {
    const [, id = '', ...cells] = line.split('|').map((cell) => cell.trim());
    return /^G\d+$/.test(id)
      ? [{ id, files: [...(cells.at(-2) ?? '').matchAll(/`([^`]+)`/g)].map(([, file]) => file) }]
      : [];
  });

/** The ids in the names of the tests, with their files. */
const ids = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.test.ts'))
  .flatMap((file) =>
    Array.from(readFileSync(join(root, 'test', file), 'utf8').matchAll(/\((G\d+)\)['"`],?/g), ([, id]) => ({
      id,
      file: `test/${file}`,
    })),
  );

describe('the ids of the guarantees', () => {
  it('are numbered without a gap, and keep their number wherever a row is added', () => {
    expect(rows.length).toBeGreaterThan(50);
    const numbers = rows.map(({ id }) => Number(id.slice(1))).sort((a, b) => a - b);
    expect(numbers).toEqual(rows.map((_, index) => index + 1));
  });

  it.each(rows)('$id is in the name of a test in each file that its row lists', ({ id, files }) => {
    expect(files).not.toEqual([]);
    expect([...new Set(ids.filter((found) => found.id === id).map(({ file }) => file))].sort()).toEqual(files.sort());
  });

  it('are all in the guide', () => {
    const known = new Set(rows.map(({ id }) => id));
    expect(ids.filter(({ id = '' }) => !known.has(id))).toEqual([]);
  });
});
