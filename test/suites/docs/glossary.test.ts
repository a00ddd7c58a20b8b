import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const root = join(import.meta.dirname, '..', '..', '..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

/** The rows of the glossary: a term, and the words that no guide uses for it. */
const rows = [...read('docs/glossary.md').matchAll(/^\| (.+?) *\| .+? *\| (.+?) *\|$/gm)]
  .map(([, term = '', others = '']) => ({ term, others: others.split(', ') }))
  .filter(({ term }) => term !== 'Term' && !term.startsWith('---'));

/** The sentences of a guide, without its code and the words to search for. */
const proseOf = (text: string): string =>
  text
    .replace(/^---\n[^]*?\n---\n/, '')
    .replace(/^ *```[^]*?^ *```$/gm, '')
    .replace(/`[^`\n]*`/g, '')
    .replace(/\s+/g, ' ');

const guides = async (): Promise<readonly { readonly path: string; readonly prose: string }[]> => {
  const names = (await readdir(join(root, 'docs'))).filter((name) => name.endsWith('.md') && name !== 'glossary.md');
  return ['README.md', ...names.map((name) => `docs/${name}`)].map((path) => ({ path, prose: proseOf(read(path)) }));
};

describe('the glossary', () => {
  it('has each term once, and words that mean nothing else', () => {
    expect(rows.length).toBeGreaterThan(30);
    const terms = rows.map(({ term }) => term);
    expect(new Set(terms).size).toBe(terms.length);
    const others = rows.flatMap((row) => row.others);
    expect(new Set(others).size).toBe(others.length);
  });

  it('has words that the guides use, and other ones that they do not', async () => {
    const pages = await guides();
    expect(pages.length).toBeGreaterThan(50);
    const usesOf = (words: string): readonly string[] =>
      pages.filter(({ prose }) => new RegExp(`\\b${words}s?\\b`, 'i').test(prose)).map(({ path }) => path);
    const unused = rows.filter(({ term }) =>
      term.split(', ').some((word) => usesOf(word.replace(/^To /, '')).length === 0),
    );
    expect(unused).toEqual([]);
    const found = rows.flatMap(({ others }) =>
      others.flatMap((word) => usesOf(word).map((path) => `${path}: ${word}`)),
    );
    expect(found).toEqual([]);
  });
});
