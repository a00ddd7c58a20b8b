import { expect, it } from '@jest/globals';
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import ts from 'typescript';

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
  const folder = join(root, 'node_modules', '.cache', 'react-guide');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, 'node_modules'), { recursive: true });
  symlinkSync(root, join(folder, 'node_modules', 'canton-rx'), 'junction');
  const guide = readFileSync(join(root, 'docs', 'react.md'), 'utf8');
  const blocks = [...guide.matchAll(/^```tsx\n\/\/ src\/(\S+)\n(.*?)^```$/gms)];
  const files = { 'declarations.d.ts': declarations };
  for (const [, name = '', code = ''] of blocks) Object.assign(files, { [name]: code });
  expect(Object.keys(files)).toEqual([
    'declarations.d.ts',
    'main.tsx',
    'App.tsx',
    'ledger.ts',
    'Issue.tsx',
    'App.test.tsx',
  ]);
  const paths = Object.entries(files).map(([name, code]) => {
    writeFileSync(join(folder, name), code);
    return join(folder, name);
  });
  const program = ts.createProgram(paths, {
    target: ts.ScriptTarget.ES2022,
    lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    jsx: ts.JsxEmit.ReactJSX,
    types: [],
    strict: true,
    verbatimModuleSyntax: true,
    skipLibCheck: true,
    noEmit: true,
  });
  const problems = ts
    .getPreEmitDiagnostics(program)
    .map(
      ({ file, messageText }) =>
        `${basename(file?.fileName ?? '')}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`,
    );
  expect(problems).toEqual([]);
});
