import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import ts from 'typescript';
import { emptyProject, type Example, findExamples } from './examples.js';

const root = join(import.meta.dirname, '..', '..', '..');
const sources = ['docs/examples/nest/src/contracts/types.ts', 'docs/examples/react/src/Task.ts'];
const examples: readonly Example[] = [
  ...findExamples(root),
  ...sources.map((name) => ({ name, code: readFileSync(join(root, name), 'utf8') })),
].filter(({ code }) => /\b(contract|interface)Type\(/.test(code));

/** The libraries that make codecs and schemas. Nothing else of an example is run. */
const libraries = /^['"](canton-rx|io-ts|zod|valibot|arktype)['"]$/;

/** A module whose default export is the list of the contract types in an example. */
function typesModule({ name, code }: Example): string {
  const source = ts.createSourceFile(name, code, ts.ScriptTarget.ESNext, true);
  const imports = source.statements
    .filter(ts.isImportDeclaration)
    .filter(({ moduleSpecifier }) => libraries.test(moduleSpecifier.getText()));
  const constants = new Map(
    source.statements
      .filter(ts.isVariableStatement)
      .flatMap((statement) =>
        statement.declarationList.declarations.map((each) => [each.name.getText(), each] as const),
      ),
  );
  const used = new Set<ts.VariableDeclaration>();
  const types: string[] = [];
  const use = (node: ts.Node): void => {
    // the name of a field is not that of a constant
    if (ts.isPropertyAssignment(node)) {
      use(node.initializer);
      return;
    }
    if (ts.isPropertyAccessExpression(node)) {
      use(node.expression);
      return;
    }
    const constant = ts.isIdentifier(node) ? constants.get(node.text) : undefined;
    if (constant?.initializer !== undefined && !used.has(constant)) {
      use(constant.initializer);
      used.add(constant);
    }
    ts.forEachChild(node, use);
  };
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && /^(contract|interface)Type$/.test(node.expression.getText())) {
      node.arguments.forEach(use);
      types.push(node.getText());
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return [
    ...imports.map((each) => each.getText()),
    ...[...used].map((each) => `const ${each.getText()};`),
    `export default [${types.join(', ')}];`,
  ].join('\n');
}

interface Decoded {
  readonly name: string;
  readonly templateId: string;
  readonly isDecoded: boolean;
}

/** Decodes the payloads of each type of the modules. A type without a payload does not decode. */
const program = `
import { readFileSync } from 'node:fs';
const payloads = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const seen = [];
for (const [name, file] of JSON.parse(process.argv[3]))
  for (const { templateId, decoder } of (await import(file)).default)
    for (const payload of payloads[templateId] ?? [undefined]) {
      const decoded = decoder.run(payload);
      seen.push({ name, templateId, isDecoded: decoded.ok });
    }
console.log(JSON.stringify(seen));
`;

describe('the codecs of the guides', () => {
  it('decode payloads as a participant of 3.5 sends them, without the last fields that are None', async () => {
    const folder = emptyProject(root, 'codecs');
    const modules = examples.map((example, index) => {
      const file = join(folder, `types-${index}.mjs`);
      const compiled = ts.transpileModule(typesModule(example), {
        compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext },
      });
      writeFileSync(file, compiled.outputText);
      return [example.name, file];
    });
    const main = join(folder, 'main.mjs');
    writeFileSync(main, program);
    const payloads = join(root, 'test', 'fixtures', 'wire', 'payloads-3.5.json');
    const { stdout } = await promisify(execFile)(process.execPath, [main, payloads, JSON.stringify(modules)]);
    const seen = JSON.parse(stdout) as readonly Decoded[];
    expect(new Set(seen.map(({ name }) => name)).size).toBeGreaterThan(20);
    expect(seen.filter(({ isDecoded }) => !isDecoded)).toEqual([]);
  });
});
