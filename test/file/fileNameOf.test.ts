import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { fileNameOf } from '../../src/file/paths.js';
import { folders } from './folders.js';

const folder = folders();

/** Names as people give them, and as only a test does. */
const names = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.string({
    unit: fc.constantFrom('a', 'A', '.', '/', '\\', '%', '-', 'u', '0', '\0', 'é', 'e\u0301', '\ud800', ':'),
  }),
  fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 95, maxLength: 105 }),
  fc.constantFrom('con', 'CON', '%63on', 'com1', 'nul', 'lpt9', '', '%', '.', '..', '~', 'a.parked', 'a.json'),
);
/** As UTF-8 has it. */
const wellFormed = (name: string): string => Buffer.from(name).toString();
/** What may be taken for a name: one like it. */
const alike = (name: string): readonly string[] => [
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

describe('fileNameOf', () => {
  it('gives different names to different names, also where case is not told apart', () => {
    fc.assert(
      fc.property(names, names, (name, other) => {
        for (const second of [other, ...alike(name)]) {
          const isSame = fileNameOf(second).toLowerCase() === fileNameOf(name).toLowerCase();
          expect({ name, second, isSame }).toEqual({ name, second, isSame: second === name });
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it('gives names that every file system takes, and that lead nowhere else', () => {
    fc.assert(
      fc.property(names, (name) => {
        const file = fileNameOf(name);
        expect(file).toMatch(/^[a-z0-9_%-]{1,100}$/);
        expect(file).not.toMatch(/^(con|prn|aux|nul|com\d|lpt\d)$/);
      }),
      { numRuns: 2_000 },
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
  ])('escapes what it must: %j', (name, file) => {
    expect(fileNameOf(name)).toBe(file);
  });

  it('gives as many files and folders as there are names', async () => {
    const base = await folder();
    const distinct =
      fc.sample(fc.uniqueArray(names, { minLength: 60, maxLength: 120 }), { numRuns: 1, seed: 1 })[0] ?? [];
    for (const name of distinct) {
      await writeFile(join(base, `${fileNameOf(name)}.json`), '', { flag: 'wx' });
      await mkdir(join(base, `${fileNameOf(name)}.parked`));
    }
    expect(await readdir(base)).toHaveLength(2 * distinct.length);
  });
});
