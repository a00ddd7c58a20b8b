import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { browserGlobals, circles, exportedNames, readSources, roomCircles } from './measure.js';

const files = readSources(join(import.meta.dirname, '..', '..', '..', 'src'));

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
});

describe('CONTRIBUTING.md', () => {
  it('names files that exist', () => {
    const text = readFileSync(join(import.meta.dirname, '..', '..', '..', 'CONTRIBUTING.md'), 'utf8');
    const [, flows = ''] = /Six flows([^]*?)## Where a new thing goes/.exec(text) ?? [];
    const named = [...flows.matchAll(/`([\w/]+\.ts)`/g)].map(([, path = '']) => path);
    expect(named.length).toBeGreaterThan(30);
    expect(named.filter((path) => !files.some((file) => `/${file.path}`.endsWith(`/${path}`)))).toEqual([]);
  });
});
