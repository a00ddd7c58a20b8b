import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const root = join(import.meta.dirname, '..', '..', '..');
const guide = readFileSync(join(root, 'docs', 'guarantees.md'), 'utf8');
const paths = [...new Set([...guide.matchAll(/`(test\/[^`]+)`/g)].map(([, path = '']) => path))];

/** The names that a file name with `*` matches in its folder. */
const matches = (path: string): readonly string[] => {
  const [start = '', end = ''] = basename(path).split('*');
  return readdirSync(join(root, dirname(path))).filter((name) => name.startsWith(start) && name.endsWith(end));
};

describe('a test that the guarantees name', () => {
  it.each(paths)('exists: %s', (path) => {
    if (path.includes('*')) expect(matches(path)).not.toEqual([]);
    else expect(existsSync(join(root, path))).toBe(true);
  });
});
