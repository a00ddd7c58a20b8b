import { expect, it } from '@jest/globals';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compile, emptyProject, forBundler } from './examples.js';

const root = join(import.meta.dirname, '..', '..', '..');

/** What the blocks use of packages that the tests of this library do not have. */
const declarations = `
declare module '@testing-library/react' {
  export { act } from 'react';
  export function render(element: import('react').ReactNode): void;
  export const screen: { getByText(text: string): HTMLElement };
}
declare function test(name: string, run: () => void): void;
declare function expect(value: unknown): { toBeDefined(): void };
`;

it('the files of the guide for React compile together, as a strict application of Vite has them', () => {
  const folder = emptyProject(root, 'react-guide');
  const guide = readFileSync(join(root, 'docs', 'react.md'), 'utf8');
  const blocks = [...guide.matchAll(/^```tsx\n\/\/ src\/(\S+)\n(.*?)^```$/gms)];
  const files = [['declarations.d.ts', declarations], ...blocks.map(([, name = '', code = '']) => [name, code])];
  expect(files.map(([name]) => name).join(' ')).toBe(
    'declarations.d.ts main.tsx App.tsx session.ts Page.tsx ledger.ts Issue.tsx App.test.tsx',
  );
  const paths = files.map(([name = '', code = '']) => {
    writeFileSync(join(folder, name), code);
    return join(folder, name);
  });
  expect(compile(paths, { ...forBundler, types: [], verbatimModuleSyntax: true }).flat()).toEqual([]);
});
