import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import {
  browserGlobals,
  circles,
  codeOfGuides,
  exportedNames,
  exportedValues,
  readEntries,
  readSources,
  roomCircles,
} from './measure.js';

const root = join(import.meta.dirname, '..', '..', '..');
const files = readSources(join(root, 'src'));

// what the house weighs is a report, `npm run house`; this is what it must not have
describe('src', () => {
  it('has no circle of files, types included', () => {
    expect(circles(files)).toEqual([]);
  });

  it('has rooms that import each other one way, types included', () => {
    expect(roomCircles(files)).toEqual([]);
  });

  it('exports no name from its root that every browser program has already', () => {
    const names = exportedNames(files, ['index.ts']);
    expect(names.length).toBeGreaterThan(50);
    const globals = browserGlobals();
    expect(globals.has('Event')).toBe(true);
    expect(names.filter((name) => globals.has(name))).toEqual([]);
  });

  it('exports no value that the code of no guide names', () => {
    const values = exportedValues(files, readEntries(root));
    expect(values.length).toBeGreaterThan(100);
    const named = new Set(codeOfGuides(root).match(/[\w$]+/g));
    expect(values.filter((name) => !named.has(name))).toEqual([]);
  });
});

describe('CONTRIBUTING.md', () => {
  it('names files that exist', () => {
    const text = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8');
    const [, flows = ''] = /Six flows([^]*?)## Where a new thing goes/.exec(text) ?? [];
    const named = [...flows.matchAll(/`([\w/]+\.ts)`/g)].map(([, path = '']) => path);
    expect(named.length).toBeGreaterThan(30);
    expect(named.filter((path) => !files.some((file) => `/${file.path}`.endsWith(`/${path}`)))).toEqual([]);
  });
});
