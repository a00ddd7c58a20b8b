import { expect, it } from '@jest/globals';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compile, emptyProject, forBundler } from './examples.js';

const root = join(import.meta.dirname, '..', '..', '..');

it('the files of the guide for TanStack compile together, as a strict application has them', () => {
  const folder = emptyProject(root, 'tanstack-guide');
  const guide = readFileSync(join(root, 'docs', 'tanstack.md'), 'utf8');
  const files = [...guide.matchAll(/^```tsx\n\/\/ src\/(\S+)\n(.*?)^```$/gms)];
  expect(files.map(([, name]) => name)).toEqual(['tasks.ts', 'TaskList.tsx', 'Titles.tsx']);
  const paths = files.map(([, name = '', code = '']) => {
    writeFileSync(join(folder, name), code);
    return join(folder, name);
  });
  expect(compile(paths, { ...forBundler, types: [], verbatimModuleSyntax: true }).flat()).toEqual([]);
});
