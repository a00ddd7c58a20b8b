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

interface Played {
  readonly file: string;
  readonly ids: readonly string[];
}

describe('the figures of the campaigns', () => {
  const site = join(root, 'docs', 'site');
  const played = JSON.parse(readFileSync(join(site, 'campaigns.json'), 'utf8')) as readonly Played[];

  it('are those that the script has recorded', async () => {
    const { tableOf, withTable } = (await import(join(site, 'guarantees.mjs'))) as {
      readonly tableOf: (runs: readonly Played[]) => string;
      readonly withTable: (text: string, table: string) => string;
    };
    const page = readFileSync(join(root, 'docs', 'guarantees.md'), 'utf8');
    // Prettier aligns the columns
    const plain = (text: string): string => text.replaceAll(/ +/g, ' ').replaceAll(/-{3,}/g, '---');
    expect(plain(withTable(page, tableOf(played)))).toBe(plain(page));
  });

  it('name rows that list their test', () => {
    expect(played.length).toBeGreaterThan(3);
    const listed = rows.flatMap(({ id, files }) => files.map((file) => `${id} ${file}`));
    const named = played.flatMap((run) => run.ids.map((id) => `${id} ${run.file}`));
    expect(named.filter((name) => !listed.includes(name))).toEqual([]);
  });
});
