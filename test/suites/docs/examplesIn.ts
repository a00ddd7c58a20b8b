import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A code block of the documentation: a whole module. */
export interface Example {
  /** Where it stands: `README.md:12`. */
  readonly name: string;
  readonly code: string;
}

/** Every `ts` block of the README and the guides, and every one in the comments of the sources. */
export const examplesIn = (root: string): readonly Example[] =>
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
