import { join } from 'node:path';
import process from 'node:process';
import { afterAll, describe, expect, it } from '@jest/globals';
import {
  browserGlobals,
  circles,
  exportsWithoutImporter,
  filesWithOneImporter,
  isEntry,
  median,
  publicNames,
  readSources,
  sum,
} from './measure.js';

const root = join(import.meta.dirname, '..', '..', '..');
const files = readSources(join(root, 'src'));
const lines = files.map((file) => file.lines);
const linesOfCode = sum(files.map((file) => file.linesOfCode));
const tests = readSources(join(root, 'test'));
const linesOfTests = sum(tests.map((file) => file.lines));
const testFiles = tests.filter(({ path }) => path.endsWith('.test.ts'));

afterAll(() => {
  const figures = {
    'files of src': files.length,
    'lines of code of src': linesOfCode,
    'lines of src, with comments': sum(lines),
    'median lines of a file': median(lines),
    'longest file': Math.max(...lines),
    'files under 20 lines': files.filter((file) => file.lines < 20).length,
    'exports without importer': exportsWithoutImporter(files).length,
    'files with one importer': filesWithOneImporter(files).length,
    circles: circles(files).length,
    'names in the root': publicNames(files, 'index.ts').length,
    'lines of tests': linesOfTests,
    'test files': testFiles.length,
    'test helpers': tests.length - testFiles.length,
  };
  const text = Object.entries(figures).map(([name, value]) => `${name} ${value}`);
  process.stdout.write(`house: ${text.join(', ')}\n`);
});

// what the house weighs is printed, and decides nothing: a feature costs what it costs
describe('src', () => {
  it('has no file of more than 400 lines: each is one idea', () => {
    expect(files.filter((file) => file.lines > 400).map(({ path }) => path)).toEqual([]);
  });

  it('has no file under 20 lines but entry points', () => {
    const short = files.filter((file) => file.lines < 20 && !isEntry(file));
    expect(short.map(({ path }) => path)).toEqual([]);
  });

  it('has no circle of files, types included', () => {
    expect(circles(files)).toEqual([]);
  });

  it('exports at most 150 names from its root, none of which every browser program has already', () => {
    const names = publicNames(files, 'index.ts');
    expect(names.length).toBeGreaterThan(50);
    expect(names.length).toBeLessThanOrEqual(150);
    const globals = browserGlobals();
    expect(globals.has('Event')).toBe(true);
    expect(names.filter((name) => globals.has(name))).toEqual([]);
  });

  it('has no export that only its own file and tests use, but for what is tested alone', () => {
    expect(exportsWithoutImporter(files)).toEqual([
      'cli/Session.ts: loadTransport',
      'cli/progress.ts: retryNotices',
      'cli/replay/writeRange.ts: ReplayProgress',
      'cli/replay/writeRange.ts: formatReplayProgress',
      'otel/Recorder.ts: errorTypeOf',
      'postgres/projection/loadContracts.ts: copyRows',
      'submission/codes.ts: codeMeanings',
    ]);
  });
});
