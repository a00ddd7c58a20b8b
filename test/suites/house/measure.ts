import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { createRequire } from 'node:module';
import ts from 'typescript';

const require = createRequire(import.meta.url);

/** A source file, with its lines, its exported names and the names that it imports from other files. */
export interface SourceFile {
  /** Relative to the measured folder. */
  readonly path: string;
  readonly lines: number;
  /** Its lines without comments and blank ones. */
  readonly linesOfCode: number;
  readonly exports: readonly string[];
  readonly imports: readonly Import[];
}

/** One imported name; `*` for a whole module. */
interface Import {
  readonly path: string;
  readonly name: string;
}

/** Every TypeScript file in a folder. */
export const typescriptFiles = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.includes('node_modules'))
    .sort();

/** Reads every TypeScript file in a folder. */
export const readSources = (folder: string): readonly SourceFile[] =>
  typescriptFiles(folder).map((path) => {
    const text = readFileSync(join(folder, path), 'utf8');
    const source = ts.createSourceFile(path, text, ts.ScriptTarget.ES2022, true);
    return {
      path,
      lines: countLines(text),
      linesOfCode: countLines(text.replace(/\/\*[^]*?\*\/|^ *\/\/.*/gm, '').replace(/^\s*\n/gm, '')),
      exports: [...new Set(source.statements.flatMap(exportedNames))],
      imports: importsOf(source),
    };
  });

const countLines = (text: string): number => text.split('\n').length - 1;

/** Whether a file is a public list or a program. */
export const isEntry = ({ path }: SourceFile): boolean =>
  /(?:^|\/)index\.ts$|\.browser\.ts$/.test(path) || ['cli/main.ts', 'ws/browser.ts'].includes(path);

/** Exports that no other file imports, without those of entries. */
export function exportsWithoutImporter(files: readonly SourceFile[]): readonly string[] {
  const imported = new Set(files.flatMap(({ imports }) => imports.map(({ path, name }) => `${path}:${name}`)));
  return files
    .filter((file) => !isEntry(file))
    .flatMap(({ path, exports }) => exports.map((name) => [path, name] as const))
    .filter(([path, name]) => !imported.has(`${path}:${name}`) && !imported.has(`${path}:*`))
    .map(([path, name]) => `${path}: ${name}`);
}

/** Files that exactly one other file imports. */
export const filesWithOneImporter = (files: readonly SourceFile[]): readonly string[] =>
  files.flatMap(({ path }) => {
    const importers = files.filter(({ imports }) => imports.some((imported) => imported.path === path));
    return importers.length === 1 && importers.every((importer) => !isEntry(importer)) ? [path] : [];
  });

/** The groups of files that import each other, types included. */
export function circles(files: readonly SourceFile[]): readonly (readonly string[])[] {
  const importsOfPath = new Map(files.map(({ path, imports }) => [path, new Set(imports.map((each) => each.path))]));
  const reach = (path: string, seen = new Set<string>()): ReadonlySet<string> => {
    for (const next of importsOfPath.get(path) ?? []) {
      if (seen.has(next)) continue;
      seen.add(next);
      reach(next, seen);
    }
    return seen;
  };
  const reached = new Map(files.map(({ path }) => [path, reach(path)]));
  const isCircular = (a: string, b: string): boolean =>
    reached.get(a)?.has(b) === true && reached.get(b)?.has(a) === true;
  const circular = files.map(({ path }) => path).filter((path) => isCircular(path, path));
  return circular
    .map((path) => circular.filter((other) => isCircular(path, other)))
    .filter(([first], index) => first === circular[index]);
}

/** The names that an entry exports. */
export const publicNames = (files: readonly SourceFile[], entry: string): readonly string[] => {
  const found = files.find(({ path }) => path === entry);
  return found === undefined ? [] : [...new Set(found.imports.map(({ name }) => name))];
};

/** The names that every browser program has without an import. */
export function browserGlobals(): ReadonlySet<string> {
  const libraries = dirname(require.resolve('typescript'));
  const text = readFileSync(join(libraries, 'lib.dom.d.ts'), 'utf8');
  return new Set([...text.matchAll(/^(?:interface|declare var) (\w+)/gm)].flatMap(([, name]) => name ?? []));
}

export const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

export const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
};

function exportedNames(statement: ts.Statement): readonly string[] {
  const modifiers = ts.canHaveModifiers(statement) ? (ts.getModifiers(statement) ?? []) : [];
  if (!modifiers.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) return [];
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.flatMap(({ name }) => boundNames(name));
  const isNamed =
    ts.isFunctionDeclaration(statement) ||
    ts.isClassDeclaration(statement) ||
    ts.isInterfaceDeclaration(statement) ||
    ts.isTypeAliasDeclaration(statement);
  return isNamed && statement.name !== undefined ? [statement.name.text] : [];
}

const boundNames = (name: ts.BindingName): readonly string[] =>
  ts.isIdentifier(name)
    ? [name.text]
    : name.elements.flatMap((element) => (ts.isBindingElement(element) ? boundNames(element.name) : []));

function importsOf(source: ts.SourceFile): readonly Import[] {
  const imports: Import[] = [];
  const add = (specifier: ts.Node | undefined, names: readonly string[]): void => {
    if (specifier === undefined || !ts.isStringLiteral(specifier) || !specifier.text.startsWith('.')) return;
    const path = relative('.', join(dirname(source.fileName), specifier.text)).replace(/\.js$/, '.ts');
    imports.push(...names.map((name) => ({ path, name })));
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) add(node.moduleSpecifier, namesOf(node.importClause?.namedBindings));
    else if (ts.isExportDeclaration(node)) add(node.moduleSpecifier, namesOf(node.exportClause));
    else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
      add(node.arguments[0], ['*']);
    else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) add(node.argument.literal, ['*']);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return imports;
}

const namesOf = (bindings: ts.NamedImportBindings | ts.NamedExportBindings | undefined): readonly string[] =>
  bindings !== undefined && (ts.isNamedImports(bindings) || ts.isNamedExports(bindings))
    ? bindings.elements.map(({ name, propertyName }) => (propertyName ?? name).text)
    : ['*'];
