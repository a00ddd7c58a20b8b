import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The side of a block in the migration guide. */
export type Side = 'before' | 'now';

/** A code block of the migration guide. */
export interface Block {
  /** The line in the two pages of the guide. */
  readonly line: number;
  readonly side: Side;
  /** The file that it is: by its first line, `// ledger.ts`, or by its line in the guide. */
  readonly file: string;
  readonly code: string;
  /** What it prints, by its comments `// =>`. */
  readonly output: readonly string[];
}

/** All blocks of the guide that are code of one of the sides. */
export function readGuide(root: string): readonly Block[] {
  const text = ['migrating.md', 'migrating-components.md']
    .map((name) => readFileSync(join(root, 'docs', name), 'utf8'))
    .join('\n');
  return [...text.matchAll(/^```(tsx?) (before|now)\n(.*?)^```$/gms)].map(
    ({ index, 1: extension = '', 2: side, 3: code = '' }) => {
      const line = text.slice(0, index).split('\n').length;
      return {
        line,
        side: side === 'before' ? 'before' : 'now',
        file: /^\/\/ (\w+\.tsx?)\n/.exec(code)?.[1] ?? `line${line}.${extension}`,
        code,
        output: [...code.matchAll(/\/\/ => (.*)$/gm)].map(([, printed = '']) => printed),
      };
    },
  );
}
