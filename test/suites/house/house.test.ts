import { join } from 'node:path';
import process from 'node:process';
import { afterAll, describe, expect, it } from '@jest/globals';
import {
  exportsWithoutImporter,
  filesWithOneImporter,
  isEntry,
  median,
  readSources,
  typescriptFiles,
} from './measure.js';

const root = join(import.meta.dirname, '..', '..', '..');
const files = readSources(join(root, 'src'));
const lines = files.map((file) => file.lines);
const tests = typescriptFiles(join(root, 'test'));
const testFiles = tests.filter((path) => path.endsWith('.test.ts'));

afterAll(() => {
  const figures = {
    'files of src': files.length,
    'lines of src': lines.reduce((sum, count) => sum + count, 0),
    'median lines of a file': median(lines),
    'longest file': Math.max(...lines),
    'files under 20 lines': files.filter((file) => file.lines < 20).length,
    'exports without importer': exportsWithoutImporter(files).length,
    'files with one importer': filesWithOneImporter(files).length,
    'test files': testFiles.length,
    'test helpers': tests.length - testFiles.length,
  };
  const text = Object.entries(figures).map(([name, value]) => `${name} ${value}`);
  process.stdout.write(`house: ${text.join(', ')}\n`);
});

describe('src', () => {
  it('has at most 340 files', () => {
    expect(files.length).toBeLessThanOrEqual(340);
  });

  it('has files of 90 to 130 lines at the median, and of at most 300 with their documentation', () => {
    expect(median(lines)).toBeGreaterThanOrEqual(90);
    expect(median(lines)).toBeLessThanOrEqual(130);
    expect(files.filter((file) => file.lines > 300).map(({ path }) => path)).toEqual([]);
  });

  it('has no file under 20 lines but entry points', () => {
    const short = files.filter((file) => file.lines < 20 && !isEntry(file));
    expect(short.map(({ path }) => path)).toEqual([]);
  });

  it('has no export that only its own file uses', () => {
    expect(exportsWithoutImporter(files)).toEqual([]);
  });
});
