import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

interface Manifest {
  readonly engines: Readonly<Record<'node', string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional: boolean }>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

const root = join(import.meta.dirname, '..', '..', '..');
const read = (...path: readonly string[]): string => readFileSync(join(root, ...path), 'utf8');
const manifest = JSON.parse(read('package.json')) as Manifest;
const { engines, dependencies, peerDependencies, peerDependenciesMeta } = manifest;
const isOptional = (name: string): boolean => peerDependenciesMeta[name]?.optional === true;
const required = Object.entries(peerDependencies).filter(([name]) => !isOptional(name));

describe('what a program installs', () => {
  it('is the same line in the README and in every guide', () => {
    const examples = readdirSync(join(root, 'docs', 'examples'), { withFileTypes: true }).filter((entry) =>
      entry.isDirectory(),
    );
    const guides = readdirSync(join(root, 'docs')).filter((file) => file.endsWith('.md'));
    const texts = ['README.md', ...guides.map((guide) => join('docs', guide))].concat(
      examples.map(({ name }) => join('docs', 'examples', name, 'README.md')),
    );
    const lines = texts.flatMap((file) =>
      [...read(file).matchAll(/npm install (?:\S*\/)?canton-rx(?:-[\d.]+tgz)?(?![\w/-])([^\n`]*)/g)].map(
        ([, rest = '']) => ({
          file,
          rest: rest.trim(),
        }),
      ),
    );
    expect(lines.length).toBeGreaterThan(10);
    expect(lines.filter(({ rest }) => !/^rxjs io-ts fp-ts\b/.test(rest))).toEqual([]);
    expect(required.map(([name]) => name).sort()).toEqual(['fp-ts', 'io-ts', 'rxjs']);
  });

  it('is in the dependencies of the examples', () => {
    const examples = readdirSync(join(root, 'docs', 'examples'), { withFileTypes: true }).filter((entry) =>
      entry.isDirectory(),
    );
    expect(examples.length).toBeGreaterThan(1);
    for (const { name } of examples) {
      const example = JSON.parse(read('docs', 'examples', name, 'package.json')) as Manifest;
      expect([name, Object.keys(example.dependencies)]).toEqual([
        name,
        expect.arrayContaining(['canton-rx', ...required.map(([peer]) => peer)]),
      ]);
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
