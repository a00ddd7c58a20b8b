import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { firstValueFrom, from } from 'rxjs';
import { CursorError } from '../../src/errors/process.js';
import { fileStore } from '../../src/file/index.js';
import { allValues, cursorAt, lastValue, testStore } from '../process/storeContract.js';
import { folders } from './folders.js';

const folder = folders();

const conflict = expect.objectContaining({ _tag: 'CursorError', reason: 'conflict', processor: 'a' });
const unreadable = expect.objectContaining({ _tag: 'CursorError', reason: 'unreadable', processor: 'a' });

describe('fileStore', () => {
  testStore(async () => fileStore(await folder()));

  it('has one file for a cursor, and one for each parked update, readable by the owner only', async () => {
    const base = await folder();
    const store = fileStore(base);
    await lastValue(store.save('a', cursorAt(1), undefined));
    await lastValue(store.park('a', 7, { offset: 7 }, undefined));
    expect((await readdir(base, { recursive: true })).sort()).toEqual([
      'a.json',
      'a.parked',
      join('a.parked', '0000000000000007.json'),
    ]);
    expect(JSON.parse(await readFile(join(base, 'a.json'), 'utf8'))).toEqual(cursorAt(1));
    const modes = [join(base, 'a.json'), join(base, 'a.parked')].map(async (path) => (await stat(path)).mode & 0o077);
    expect(await Promise.all(modes)).toEqual([0, 0]);
  });

  it('has the same content for another process', async () => {
    const base = await folder();
    await lastValue(fileStore(base).save('a', cursorAt(1), undefined));
    await lastValue(fileStore(base).park('a', 7, { offset: 7 }, undefined));
    expect(await lastValue(fileStore(base).load('a'))).toEqual(cursorAt(1));
    expect(await allValues(fileStore(base).parked('a'))).toEqual([{ offset: 7 }]);
    expect(await lastValue(fileStore(base).unpark('a', 7, undefined))).toBe(true);
  });

  it('reads parked updates one by one', async () => {
    const base = await folder();
    const store = fileStore(base);
    for (const offset of [1, 2]) await lastValue(store.park('a', offset, { offset }, undefined));
    await writeFile(join(base, 'a.parked', '0000000000000002.json'), '{"off');
    expect(await firstValueFrom(from(store.parked('a')))).toEqual({ offset: 1 });
    await expect(allValues(store.parked('a'))).rejects.toEqual(unreadable);
  });

  it('skips updates that are removed while it reads, and other files', async () => {
    const base = await folder();
    const store = fileStore(base);
    for (const offset of [1, 2, 3]) await lastValue(store.park('a', offset, { offset }, undefined));
    await writeFile(join(base, 'a.parked', '.DS_Store'), '');
    const seen: unknown[] = [];
    await from(store.parked('a')).forEach((parked) => {
      seen.push(parked);
      void lastValue(store.unpark('a', 2, undefined));
    });
    expect(seen).toContainEqual({ offset: 3 });
    expect(await allValues(store.parked('a'))).toEqual([{ offset: 1 }, { offset: 3 }]);
  });

  describe('a file that is not JSON', () => {
    it.each(['', ' ', '{"version":1,"off', '\0\0\0\0', 'undefined'])('is refused: %j', async (text) => {
      const base = await folder();
      await writeFile(join(base, 'a.json'), text);
      const store = fileStore(base);
      await expect(lastValue(store.load('a'))).rejects.toEqual(unreadable);
      await expect(lastValue(store.load('a'))).rejects.toBeInstanceOf(CursorError);
    });

    it('can be replaced by a save', async () => {
      const base = await folder();
      await writeFile(join(base, 'a.json'), '');
      await lastValue(fileStore(base).save('a', cursorAt(3), undefined));
      expect(await lastValue(fileStore(base).load('a'))).toEqual(cursorAt(3));
    });

    it('is not quoted', async () => {
      const base = await folder();
      await writeFile(join(base, 'a.json'), 'secret');
      await expect(lastValue(fileStore(base).load('a'))).rejects.toThrow(
        `The stored state of the processor is rejected: ${join(base, 'a.json')} is not JSON.`,
      );
    });
  });

  describe('a bad folder', () => {
    const calls = (base: string): readonly (() => Promise<unknown>)[] => {
      const store = fileStore(base);
      return [
        () => lastValue(store.load('a')),
        () => lastValue(store.save('a', cursorAt(1), undefined)),
        () => lastValue(store.park('a', 1, {}, undefined)),
        () => allValues(store.parked('a')),
        () => lastValue(store.unpark('a', 1, undefined)),
      ];
    };

    it('is an error if it is missing', async () => {
      const base = join(await folder(), 'missing');
      for (const call of calls(base)) await expect(call()).rejects.toMatchObject({ code: 'ENOENT' });
      await expect(stat(base)).rejects.toMatchObject({ code: 'ENOENT' });
    });

    it('is an error, not a conflict, if it goes missing later, and works when it is back', async () => {
      const base = join(await folder(), 'base');
      await mkdir(base);
      const all = calls(base);
      for (const call of all) await call();
      await rename(base, `${base}-away`);
      for (const call of all) await expect(call()).rejects.toMatchObject({ code: 'ENOENT' });
      await expect(stat(base)).rejects.toMatchObject({ code: 'ENOENT' });
      await rename(`${base}-away`, base);
      for (const call of all) await call();
    });

    it('is an error if it is a file', async () => {
      const base = join(await folder(), 'file');
      await writeFile(base, '');
      for (const call of calls(base)) await expect(call()).rejects.toMatchObject({ code: 'ENOTDIR' });
    });

    it('is an error if its name is longer than the file system allows', async () => {
      const base = join(await folder(), 'x'.repeat(300));
      for (const call of calls(base)) await expect(call()).rejects.toMatchObject({ code: 'ENAMETOOLONG' });
    });

    it('is an error if the cursor is a folder', async () => {
      const base = await folder();
      await mkdir(join(base, 'a.json'));
      await expect(lastValue(fileStore(base).load('a'))).rejects.toMatchObject({ code: 'EISDIR' });
    });
  });

  describe('two stores that save under one name', () => {
    it('conflict: the second save does not overwrite', async () => {
      const base = await folder();
      const [first, second] = [fileStore(base), fileStore(base)];
      await lastValue(first.save('a', cursorAt(1), undefined));
      expect(await lastValue(second.load('a'))).toEqual(cursorAt(1));
      await lastValue(second.save('a', cursorAt(2), undefined));
      for (let turn = 0; turn < 2; turn++) {
        await expect(lastValue(first.save('a', cursorAt(5), undefined))).rejects.toEqual(conflict);
      }
      await lastValue(second.save('a', cursorAt(3), undefined));
      expect(await lastValue(second.load('a'))).toEqual(cursorAt(3));
    });

    it('conflict if both loaded nothing', async () => {
      const base = await folder();
      const [first, second] = [fileStore(base), fileStore(base)];
      expect([await lastValue(first.load('a')), await lastValue(second.load('a'))]).toEqual([undefined, undefined]);
      await lastValue(first.save('a', cursorAt(1), undefined));
      await expect(lastValue(second.save('a', cursorAt(2), undefined))).rejects.toEqual(conflict);
    });

    it('conflict if one has removed the file', async () => {
      const base = await folder();
      const store = fileStore(base);
      await lastValue(store.save('a', cursorAt(1), undefined));
      await rm(join(base, 'a.json'));
      await expect(lastValue(store.save('a', cursorAt(2), undefined))).rejects.toEqual(conflict);
      expect(await readdir(base)).toEqual([]);
    });

    it('continue after they load the cursor again', async () => {
      const base = await folder();
      const [first, second] = [fileStore(base), fileStore(base)];
      await lastValue(first.save('a', cursorAt(1), undefined));
      await lastValue(second.save('a', cursorAt(2), undefined));
      await expect(lastValue(first.save('a', cursorAt(3), undefined))).rejects.toEqual(conflict);
      expect(await lastValue(first.load('a'))).toEqual(cursorAt(2));
      await lastValue(first.save('a', cursorAt(3), undefined));
      await expect(lastValue(second.save('a', cursorAt(4), undefined))).rejects.toEqual(conflict);
    });
  });

  describe('a temporary file of a crash', () => {
    const torn = (file: string): string => `${file}.0123456789abcdef.tmp`;

    it.each([
      ['load', (base: string) => lastValue(fileStore(base).load('a'))],
      ['save', (base: string) => lastValue(fileStore(base).save('a', cursorAt(2), undefined))],
      ['parked', (base: string) => allValues(fileStore(base).parked('a'))],
    ])('does no harm, and is removed by %s', async (_, call) => {
      const base = await folder();
      await lastValue(fileStore(base).save('a', cursorAt(1), undefined));
      await lastValue(fileStore(base).park('a', 1, { offset: 1 }, undefined));
      const foreign = ['b.json.0123456789abcdef.tmp', 'a.json.tmp', 'a.json.orig', 'aa.json.0123456789abcdef.tmp'];
      for (const file of [torn('a.json'), ...foreign]) await writeFile(join(base, file), '{"vers');
      await writeFile(join(base, 'a.parked', torn('0000000000000001.json')), '{"off');
      await call(base);
      expect((await readdir(base)).sort()).toEqual(['a.json', 'a.parked', ...foreign].sort());
      expect(await readdir(join(base, 'a.parked'))).toEqual(['0000000000000001.json']);
    });
  });

  it('resolves a relative folder when it is created', async () => {
    const base = await folder();
    const before = process.cwd();
    process.chdir(base);
    try {
      const store = fileStore('.');
      process.chdir(before);
      await lastValue(store.save('a', cursorAt(1), undefined));
    } finally {
      process.chdir(before);
    }
    expect(await readdir(base)).toEqual(['a.json']);
  });
});
