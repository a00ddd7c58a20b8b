import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import type { Example } from './examplesIn.js';

/** An example as node runs it, and what the compiler has to say about it. */
export interface Compiled extends Example {
  readonly file: string;
  readonly complaints: readonly string[];
}

const options: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2022,
  lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  types: ['node'],
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  verbatimModuleSyntax: true,
  skipLibCheck: true,
};

/** Writes the examples to a folder in which the package is installed as it is for its users, and compiles them. */
export function compiled(examples: readonly Example[], root: string, cache = 'docs'): readonly Compiled[] {
  const folder = join(root, 'node_modules', '.cache', cache);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, 'node_modules'), { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  symlinkSync(root, join(folder, 'node_modules', 'canton-rx'), 'junction');
  const paths = examples.map(({ name, code }) => {
    const path = join(folder, `${name.replaceAll(/[^\w]+/g, '-')}.ts`);
    writeFileSync(path, code);
    return path;
  });
  const program = ts.createProgram(paths, options);
  program.emit();
  return examples.map((example, index) => {
    const path = paths[index] ?? '';
    return { ...example, file: path.replace(/ts$/, 'js'), complaints: complaintsAbout(program, path) };
  });
}

function complaintsAbout(program: ts.Program, path: string): readonly string[] {
  const source = program.getSourceFile(path);
  return [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)].map(
    ({ messageText, start = 0 }) => {
      const line = (source?.getLineAndCharacterOfPosition(start).line ?? 0) + 1;
      return `line ${line}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
    },
  );
}
