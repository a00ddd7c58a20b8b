import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import ts from 'typescript';

const root = join(import.meta.dirname, '..', '..', '..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const readme = read('README.md');
const typedoc = JSON.parse(read('typedoc.json')) as {
  readonly entryPoints: readonly string[];
  readonly projectDocuments: readonly string[];
  readonly categoryOrder: readonly string[];
};

/** The rows below a heading of the README, up to the next heading. */
const rowsOf = (heading: string): readonly string[] =>
  (readme.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '').split('\n').filter((line) => line.startsWith('| '));

describe('the site', () => {
  it('has the guides and examples in the order of the README, and no other', () => {
    const linked = [...rowsOf('Guides'), ...rowsOf('Examples')].flatMap(
      (row) => row.match(/docs\/[\w/.-]+\.md/g) ?? [],
    );
    expect(linked.length).toBeGreaterThan(20);
    expect(typedoc.projectDocuments.filter((path) => path.startsWith('docs/'))).toEqual(linked);
  });

  it('has every guide of the folder', async () => {
    const guides = (await readdir(join(root, 'docs')))
      .filter((name) => name.endsWith('.md'))
      .map((name) => `docs/${name}`);
    expect(typedoc.projectDocuments).toEqual(expect.arrayContaining(guides));
  });

  it('has no guide of more than 250 lines, but the runbook, in which a person searches for the words of a log line', () => {
    const guides = typedoc.projectDocuments.filter((path) => /^docs\/[\w-]+\.md$/.test(path));
    const long = guides.filter((path) => read(path).trimEnd().split('\n').length > 250);
    expect(long).toEqual(['docs/runbook.md']);
  });

  it('begins each guide with a sentence that says for whom it is', () => {
    const guides = typedoc.projectDocuments.filter((path) => /^docs\/[\w-]+\.md$/.test(path));
    const silent = guides.filter((path) => !/^---\n[^]*?\n---\n\n# .+\n\nFor [^]+?[:.]/.test(read(path)));
    expect(silent).toEqual([]);
  });

  it('has tables whose rows are one table, and a cell for each column', () => {
    const cells = (row: string): number => row.replaceAll(/`[^`]*`|\\\|/g, '').split('|').length;
    const broken = ['README.md', ...typedoc.projectDocuments].flatMap((path) =>
      [
        ...read(path)
          .replaceAll(/^ *```[^]*?^ *```$/gm, '')
          .matchAll(/(?:^\|.*\n)+/gm),
      ].flatMap(([table]) => {
        const [head = '', rule = '', ...rows] = table.trimEnd().split('\n');
        const isTable = /^\|[ :|-]+\|$/.test(rule) && rows.every((row) => cells(row) === cells(head));
        return isTable ? [] : [`${path}: ${head}`];
      }),
    );
    expect(broken).toEqual([]);
  });

  it('has the entry points in the order of the README', () => {
    const imports = rowsOf('Entry points').flatMap((row) => /^\| `(canton-rx[\w/-]*)` +\|/.exec(row)?.[1] ?? []);
    const entries = typedoc.entryPoints.map((path) =>
      path.replace(/^src\/(.*)index\.ts$/, 'canton-rx/$1').replace(/\/$/, ''),
    );
    expect(entries).toEqual(imports);
  });

  it('highlights code: only output is a block of plain text', () => {
    const blocks = ['README.md', ...typedoc.projectDocuments].flatMap((path) =>
      [...read(path).matchAll(/^ *```(\w*).*\n([^]*?)^ *```$/gm)].map(([, label = '', code = '']) => ({
        path,
        label,
        code,
      })),
    );
    expect(blocks.length).toBeGreaterThan(100);
    expect(blocks.filter(({ label }) => label === '')).toEqual([]);
    const isCode = (code: string) => /^(import|export|const|@\w+\()|^\s+\w+\(.*\{$/m.test(code);
    expect(blocks.filter(({ label, code }) => label === 'text' && isCode(code))).toEqual([]);
  });

  it('has diagrams that readers without sight, in the dark or on a phone can read', async () => {
    const diagrams = (await readdir(join(root, 'docs/images'))).filter((name) => name.endsWith('.svg'));
    expect(diagrams).toEqual(expect.arrayContaining(['feed.svg', 'join.svg', 'processor.svg', 'submission.svg']));
    for (const name of diagrams) {
      const svg = read(`docs/images/${name}`);
      expect(svg).toMatch(
        /role="img" aria-labelledby="title desc"[^]*<title id="title">.+<\/title>[^]*<desc id="desc">.+<\/desc>/,
      );
      expect(svg).toContain('prefers-color-scheme: dark');
      // a phone shows 358 of at most 560 units
      const width = Number(/viewBox="0 0 (\d+) /.exec(svg)?.[1]);
      const sizes = [...svg.matchAll(/font(?:-size)?: (?:bold )?(\d+)px/g)].map(([, size]) => Number(size));
      expect(width).toBeLessThanOrEqual(560);
      expect(Math.min(...sizes)).toBeGreaterThanOrEqual(17);
    }
  });
});

describe('the figures of the concepts', () => {
  it('name what the sources name', async () => {
    const files = (await readdir(join(root, 'src'), { recursive: true })).filter((name) => name.endsWith('.ts'));
    const sources = files.map((file) => read(join('src', file))).join('\n');
    for (const figure of ['position', 'attempt', 'fold']) {
      const names = [...read(`docs/images/${figure}.svg`).matchAll(/class="code[^"]*"[^>]*>([^<]+)</g)].flatMap(
        ([, text = '']) => text.match(/[\w$]+/g) ?? [],
      );
      expect([figure, names.length > 2]).toEqual([figure, true]);
      const declared = (name: string): boolean =>
        new RegExp(`(?<![\\w$])${name.replace('$', '\\$')}(?![\\w$])`).test(sources);
      expect([figure, names.filter((name) => !declared(name))]).toEqual([figure, []]);
    }
  });
});

describe('the reference', () => {
  const entries = typedoc.entryPoints.map((path) => join(root, path));
  const program = ts.createProgram(entries, {
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    types: ['node'],
  });
  const checker = program.getTypeChecker();

  it.each(typedoc.entryPoints)('has each export of %s in one of its categories', (path) => {
    const source = program.getSourceFile(join(root, path));
    const module = source && checker.getSymbolAtLocation(source);
    const exports = module === undefined ? [] : checker.getExportsOfModule(module);
    expect(exports.length).toBeGreaterThan(0);
    const misplaced = exports
      .map((symbol) => (symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol))
      .filter((symbol) => !isInternal(symbol))
      .map((symbol) => ({ name: symbol.name, categories: categoriesOf(symbol) }))
      .filter(
        ({ categories }) =>
          categories.size !== 1 || ![...categories].every((name) => typedoc.categoryOrder.includes(name)),
      )
      .map(({ name, categories }) => `${name}: ${[...categories].join(', ') || 'none'}`);
    expect(misplaced).toEqual([]);
  });
});

const tagsOf = (symbol: ts.Symbol): readonly ts.JSDocTagInfo[] => symbol.getJsDocTags();
const isInternal = (symbol: ts.Symbol): boolean => tagsOf(symbol).some(({ name }) => name === 'internal');
const categoriesOf = (symbol: ts.Symbol): ReadonlySet<string> =>
  new Set(
    tagsOf(symbol)
      .filter(({ name }) => name === 'category')
      .map(({ text }) => ts.displayPartsToString(text).trim()),
  );
