import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { relative, resolve } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { pathsOf } from '../../src/file/files.js';
import { effort } from '../helpers/effort.js';
import { folders } from './folders.js';

const folder = folders();
const numRuns = effort(400, 2_000);
const base = resolve('folder');

/** The file name of a name's cursor, without its extension. */
const fileNameOf = (name: string): string => relative(base, pathsOf(base, name).cursor).replace(/\.json$/, '');

/** Ordinary and hostile names. */
const names = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.string({
    unit: fc.constantFrom('a', 'A', '.', '/', '\\', '%', '-', 'u', '0', '\0', 'é', 'e\u0301', '\ud800', ':'),
  }),
  fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 95, maxLength: 105 }),
  fc.constantFrom('con', 'CON', '%63on', 'com1', 'nul', 'lpt9', '', '%', '.', '..', '~', 'a.parked', 'a.json'),
);
/** The name in UTF-8, which has no lone surrogates. */
const wellFormed = (name: string): string => Buffer.from(name).toString();
/** Names that may be confused with a name. */
const similar = (name: string): readonly string[] => [
  name.toUpperCase(),
  name.toLowerCase(),
  name.normalize('NFC'),
  name.normalize('NFD'),
  name.trim(),
  encodeURIComponent(wellFormed(name)),
  wellFormed(name),
  fileNameOf(name),
  `${name} `,
  `${name}.`,
  `${name}.parked`,
  name.slice(0, -1),
];

describe('the paths of a name', () => {
  it('differ from those of any other name, also on a file system that ignores case', () => {
    fc.assert(
      fc.property(names, names, (name, other) => {
        for (const second of [other, ...similar(name)]) {
          const isSame = fileNameOf(second).toLowerCase() === fileNameOf(name).toLowerCase();
          expect({ name, second, isSame }).toEqual({ name, second, isSame: second === name });
        }
      }),
      { numRuns },
    );
  });

  it('are valid on every file system, and inside the folder', () => {
    fc.assert(
      fc.property(names, (name) => {
        const file = fileNameOf(name);
        expect(file).toMatch(/^[a-z0-9_%-]{1,100}$/);
        expect(file).not.toMatch(/^(con|prn|aux|nul|com\d|lpt\d)$/);
      }),
      { numRuns },
    );
  });

  it.each([
    ['orders', 'orders'],
    ['orders-2_b', 'orders-2_b'],
    ['Orders.v1', '%4frders%2ev1'],
    ['../../etc/passwd', '%2e%2e%2f%2e%2e%2fetc%2fpasswd'],
    ['böb', 'b%f6b'],
    ['Ω', '%u03a9'],
    ['', '%'],
    ['nul', '%6eul'],
    ['x'.repeat(100), 'x'.repeat(100)],
  ])('escape what a file name cannot have: %j', (name, file) => {
    expect(fileNameOf(name)).toBe(file);
  });

  it('can all be created in one folder', async () => {
    const created = await folder();
    const distinct =
      fc.sample(fc.uniqueArray(names, { minLength: 60, maxLength: 120 }), { numRuns: 1, seed: 1 })[0] ?? [];
    for (const name of distinct) {
      const { cursor, parked } = pathsOf(created, name);
      await writeFile(cursor, '', { flag: 'wx' });
      await mkdir(parked);
    }
    expect(await readdir(created)).toHaveLength(2 * distinct.length);
  });
});
