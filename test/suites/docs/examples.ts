import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import ts from 'typescript';

/** A code block of the documentation: a whole module. */
export interface Example {
  /** The file and the line, such as `README.md:12`. */
  readonly name: string;
  readonly code: string;
}

/**
 * Every `ts` block of the README, of the guides, and of the comments in the sources. A block whose first line says more, such
 * as `ts no-run`, is highlighted but not run.
 */
export const findExamples = (root: string): readonly Example[] =>
  ['README.md', ...filesIn(root, 'docs', '.md'), ...filesIn(root, 'src', '.ts')].flatMap((file) =>
    blocksOf(file, readFileSync(join(root, file), 'utf8')),
  );

const filesIn = (root: string, folder: string, ending: string): readonly string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith(ending))
    .map((file) => join(folder, file))
    .sort();

function blocksOf(file: string, text: string): readonly Example[] {
  const plain = file.endsWith('.ts') ? text.replaceAll(/^ *\* ?/gm, '') : text;
  return [...plain.matchAll(/^```ts\n(.*?)^```$/gms)].map(({ index, 1: code = '' }) => ({
    name: `${file}:${plain.slice(0, index).split('\n').length}`,
    code,
  }));
}

/** A compiled example, and the compiler's errors. */
export interface CompiledExample extends Example {
  readonly file: string;
  readonly errors: readonly string[];
}

const strict: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2022,
  lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
  types: ['node'],
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: true,
};

/** For programs of Node.js. */
const forNode: ts.CompilerOptions = {
  ...strict,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  verbatimModuleSyntax: true,
};

/** For applications that are bundled, which only checks them. */
export const forBundler: ts.CompilerOptions = {
  ...strict,
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  jsx: ts.JsxEmit.ReactJSX,
  noEmit: true,
};

/** Compiles files together, and returns the errors of each. */
export function compile(paths: readonly string[], options: ts.CompilerOptions): readonly (readonly string[])[] {
  const program = ts.createProgram(paths, options);
  program.emit();
  return paths.map((path) => {
    const source = program.getSourceFile(path);
    return [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)].map(
      ({ messageText, start = 0 }) => {
        const line = (source?.getLineAndCharacterOfPosition(start).line ?? 0) + 1;
        return `${basename(path)}:${line}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
      },
    );
  });
}

/** An empty folder in which the package is installed as users have it. */
export function emptyProject(root: string, name: string): string {
  const folder = join(root, 'node_modules', '.cache', name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, 'node_modules'), { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  symlinkSync(root, join(folder, 'node_modules', 'canton-rx'), 'junction');
  return folder;
}

/** Writes the example that begins with the name of a file as a program of its own, and returns its file. Checks no types. */
export function writeProgram(root: string, fileName: string): string {
  const example = findExamples(root).find(({ code }) => code.startsWith(`// ${fileName}\n`));
  if (example === undefined) throw new Error(`no guide has ${fileName}`);
  const file = join(emptyProject(root, fileName), 'program.js');
  writeFileSync(
    file,
    ts.transpileModule(example.code, { compilerOptions: forNode, fileName: 'program.mts' }).outputText,
  );
  return file;
}

/** Writes examples to a folder with the package and a generated one, and compiles them. */
export function compileExamples(examples: readonly Example[], root: string): readonly CompiledExample[] {
  const folder = emptyProject(root, 'docs');
  mkdirSync(join(folder, 'node_modules', '@daml.js'));
  symlinkSync(
    join(root, 'test', 'fixtures', 'codegen35'),
    join(folder, 'node_modules', '@daml.js', 'inventory-2.0.0'),
    'junction',
  );
  const paths = examples.map(({ name, code }) => {
    const path = join(folder, `${name.replaceAll(/[^\w]+/g, '-')}.ts`);
    writeFileSync(path, code);
    return path;
  });
  const errors = compile(paths, forNode);
  return examples.map((example, index) => ({
    ...example,
    file: paths[index]?.replace(/ts$/, 'js') ?? '',
    errors: errors[index] ?? [],
  }));
}
