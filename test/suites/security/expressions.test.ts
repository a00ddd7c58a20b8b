import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import ts from 'typescript';

const root = join(import.meta.dirname, '..', '..', '..', 'src');

/** Every regular expression of the sources that is a literal, with its place. */
const expressions = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .flatMap((file) => {
    const source = ts.createSourceFile(file, readFileSync(join(root, file), 'utf8'), ts.ScriptTarget.ESNext);
    const found: (readonly [string, RegExp])[] = [];
    const visit = (node: ts.Node): void => {
      if (ts.isRegularExpressionLiteral(node)) {
        const end = node.text.lastIndexOf('/');
        const line = source.getLineAndCharacterOfPosition(node.pos).line + 1;
        found.push([`${file}:${line} ${node.text}`, new RegExp(node.text.slice(1, end), node.text.slice(end + 1))]);
      }
      ts.forEachChild(node, visit);
    };
    visit(source);
    return found;
  });

const length = 10_000;

/** Texts that an expression with two ways to match the same characters takes long to refuse. */
function hostileTexts(expression: RegExp): readonly string[] {
  const words = [...new Set(expression.source.match(/[A-Za-z]{2,}|\d+|[^\w\s]/g) ?? [])].slice(0, 20);
  const units = [' ', '\n', 'a', 'a ', '0', '/', '\\', '"', '(', '[', ':', '.', ', ', ' got', ...words];
  return units.flatMap((unit) => {
    const text = unit.repeat(Math.ceil(length / unit.length));
    return [`${text}\u0001`, `${words[0] ?? ''}${text}\u0001`, `\n${text}\n\u0001`];
  });
}

/** Whether an expression takes more than some microseconds per character, three times, because the machine does other work. */
function isSlow(expression: RegExp, text: string): boolean {
  for (let i = 0; i < 3; i += 1) {
    const before = performance.now();
    text.replace(expression, '');
    if (performance.now() - before < length / 400) return false;
  }
  return true;
}

/** Expressions whose text has a maximum length: 500 characters of a message, 120 digits of a number. */
const limited = /^codecs\/internal\/quotes\.ts:\d+ .*received\|was\|got|^verify\/scalars\.ts:\d+ \/0\+\$\/$/;

describe('a regular expression of the library', () => {
  it('is found', () => {
    expect(expressions.length).toBeGreaterThan(100);
  });

  it('takes time in proportion to a hostile text', () => {
    const slow = expressions.filter(
      ([place, expression]) =>
        !limited.test(place) && hostileTexts(expression).some((text) => isSlow(expression, text)),
    );
    expect(slow.map(([place]) => place)).toEqual([]);
  });
});
