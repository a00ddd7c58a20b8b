import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
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
  /** Those of its exported names that are no types alone. */
  readonly values: readonly string[];
  readonly imports: readonly Import[];
}

/** One imported name; `*` for a whole module. */
interface Import {
  readonly path: string;
  readonly name: string;
}

/** Every TypeScript file in a folder. */
const typescriptFiles = (folder: string): readonly string[] =>
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
      exports: [...new Set(source.statements.flatMap((statement) => namesIn(statement)))],
      values: [...new Set(source.statements.filter(isOfValues).flatMap((statement) => namesIn(statement, isValue)))],
      imports: importsOf(source),
    };
  });

const countLines = (text: string): number => text.split('\n').length - 1;

/** The room of a file: its folder of `src`. */
export const roomOf = (path: string): string => (path.includes('/') ? path.slice(0, path.indexOf('/')) : '(root)');

/** Tells whether a file is a public list or a program. */
const isEntry = ({ path }: SourceFile): boolean =>
  /(?:^|\/)index\.ts$|\.browser\.ts$/.test(path) || ['cli/main.ts', 'ws/browser.ts'].includes(path);

/** Files that exactly one other file imports, without entries, what is public, and what is loaded on demand. */
export const filesWithOneImporter = (files: readonly SourceFile[]): readonly string[] =>
  files
    .filter((file) => {
      const importers = files.filter(({ imports }) => imports.some(({ path }) => path === file.path));
      const isPlain = (importer: SourceFile): boolean =>
        !isEntry(importer) && !importer.imports.some(({ path, name }) => path === file.path && name === '*');
      return !isEntry(file) && importers.length === 1 && importers.every(isPlain);
    })
    .map(({ path }) => path);

/** The groups of files that import each other, types included. */
export const circles = (files: readonly SourceFile[]): readonly (readonly string[])[] =>
  groups(new Map(files.map(({ path, imports }) => [path, new Set(imports.map((each) => each.path))])));

/** The groups of rooms that import each other: one of the arrows between them leads upwards. */
export function roomCircles(files: readonly SourceFile[]): readonly (readonly string[])[] {
  const arrows = new Map<string, Set<string>>();
  for (const { path, imports } of files) {
    const room = roomOf(path);
    const others = arrows.get(room) ?? new Set();
    for (const imported of imports) if (roomOf(imported.path) !== room) others.add(roomOf(imported.path));
    arrows.set(room, others);
  }
  return groups(arrows);
}

function groups(arrows: ReadonlyMap<string, ReadonlySet<string>>): readonly (readonly string[])[] {
  const reach = (name: string, seen = new Set<string>()): ReadonlySet<string> => {
    for (const next of arrows.get(name) ?? []) {
      if (seen.has(next)) continue;
      seen.add(next);
      reach(next, seen);
    }
    return seen;
  };
  const reached = new Map([...arrows.keys()].map((name) => [name, reach(name)]));
  const isCircular = (a: string, b: string): boolean =>
    reached.get(a)?.has(b) === true && reached.get(b)?.has(a) === true;
  const circular = [...arrows.keys()].filter((name) => isCircular(name, name));
  return circular
    .map((name) => circular.filter((other) => isCircular(name, other)))
    .filter(([first], index) => first === circular[index]);
}

/** The names that entries export, each once. */
export const exportedNames = (files: readonly SourceFile[], entries: readonly string[]): readonly string[] => [
  ...new Set(files.filter(({ path }) => entries.includes(path)).flatMap((file) => file.exports)),
];

/** The values that entries export, each once. */
export const exportedValues = (files: readonly SourceFile[], entries: readonly string[]): readonly string[] => [
  ...new Set(files.filter(({ path }) => entries.includes(path)).flatMap((file) => file.values)),
];

/** The files of `src` that the package exports. */
export function readEntries(root: string): readonly string[] {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly exports: Readonly<Record<string, { readonly default?: string }>>;
  };
  return Object.values(exports).flatMap(({ default: path }) => path?.replace('./dist/', '').replace(/js$/, 'ts') ?? []);
}

/** The code in the README and the guides: blocks, and what is between backticks. */
export const codeOfGuides = (root: string): string =>
  ['README.md', ...markdownFiles(join(root, 'docs')).map((path) => join('docs', path))]
    .flatMap((path) => readFileSync(join(root, path), 'utf8').match(/^ *```\w[^]*?^ *```$|`[^`\n]+`/gm) ?? [])
    .join('\n');

const markdownFiles = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (path) => path.endsWith('.md') && !path.includes('node_modules'),
  );

/** The names that every browser program has without an import. */
export function browserGlobals(): ReadonlySet<string> {
  const libraries = dirname(require.resolve('typescript'));
  const text = readFileSync(join(libraries, 'lib.dom.d.ts'), 'utf8');
  return new Set([...text.matchAll(/^(?:interface|declare var) (\w+)/gm)].flatMap(([, name]) => name ?? []));
}

export const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

const isOfValues = (statement: ts.Statement): boolean =>
  !ts.isInterfaceDeclaration(statement) &&
  !ts.isTypeAliasDeclaration(statement) &&
  !(ts.isExportDeclaration(statement) && statement.isTypeOnly);

const isValue = ({ isTypeOnly }: ts.ExportSpecifier): boolean => !isTypeOnly;

function namesIn(
  statement: ts.Statement,
  isIncluded: (name: ts.ExportSpecifier) => boolean = () => true,
): readonly string[] {
  if (ts.isExportDeclaration(statement))
    return statement.exportClause !== undefined && ts.isNamedExports(statement.exportClause)
      ? statement.exportClause.elements.filter(isIncluded).map(({ name }) => name.text)
      : [];
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
