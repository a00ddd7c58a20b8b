import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

interface Manifest {
  readonly engines: Readonly<Record<'node', string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional: boolean }>>;
}

const root = join(import.meta.dirname, '..', '..', '..');
const read = (...path: readonly string[]): string => readFileSync(join(root, ...path), 'utf8');
const manifest = JSON.parse(read('package.json')) as Manifest;
const { engines, dependencies, peerDependencies, peerDependenciesMeta } = manifest;
const required = Object.entries(peerDependencies).filter(([name]) => peerDependenciesMeta[name]?.optional !== true);

const examples = readdirSync(join(root, 'docs', 'examples'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => join('docs', 'examples', name));

describe('what a program installs', () => {
  it('is the same line in the README and in every guide', () => {
    const guides = readdirSync(join(root, 'docs')).filter((file) => file.endsWith('.md'));
    const readmes = examples.map((example) => join(example, 'README.md'));
    const texts = ['README.md', ...guides.map((guide) => join('docs', guide)), ...readmes].map((file) => read(file));
    const line = /npm install (?:\S*\/)?canton-rx(?:-[\d.]+tgz)?(?![\w/-]) *([^\n`]*)/g;
    const lines = texts.flatMap((text) => Array.from(text.matchAll(line), ([, rest = '']) => rest));
    expect(lines.length).toBeGreaterThan(10);
    expect(lines.filter((rest) => !/^rxjs io-ts fp-ts\b/.test(rest))).toEqual([]);
    expect(required.map(([name]) => name).sort()).toEqual(['fp-ts', 'io-ts', 'rxjs']);
  });

  it('is in the dependencies of the examples', () => {
    expect(examples.length).toBeGreaterThan(1);
    const names = ['canton-rx', ...required.map(([peer]) => peer)];
    for (const example of examples) {
      const { dependencies: own } = JSON.parse(read(example, 'package.json')) as Manifest;
      expect([example, Object.keys(own)]).toEqual([example, expect.arrayContaining(names)]);
    }
  });
});

describe('the page about versions', () => {
  it('says what package.json says', () => {
    const rows = [...read('docs', 'versions.md').matchAll(/^\| (?:`([\w-]+)`|(Node\.js)) +\| ([>^][^|]*?) +\|/gm)];
    const documented = rows.map(([, name, node, range]) => [name ?? node, range]);
    expect(Object.fromEntries(documented)).toEqual({
      'Node.js': engines.node,
      ...Object.fromEntries(required),
      ...dependencies,
    });
  });

  it('names the oldest Node.js that the tests run in', () => {
    const oldest = engines.node.replace('>=', '');
    expect(read('docs', 'versions.md')).toContain(`| Node.js ${oldest} `);
    expect(read('README.md')).toContain(`**Node.js** ${oldest} or later`);
    expect(read('test', 'suites', 'runtimes', 'runtimes.test.ts')).toContain(`${oldest}.0`);
  });
});
