import { chmod, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { firstValueFrom, from } from 'rxjs';
import { CursorError } from '../../src/errors/process.js';
import { fileStore } from '../../src/file/index.js';
import { all, cursorAt, got, itIsAStore } from '../process/storeContract.js';
import { folders } from './folders.js';

const folder = folders();

const conflict = expect.objectContaining({ _tag: 'CursorError', reason: 'conflict', processor: 'a' });
const unreadable = expect.objectContaining({ _tag: 'CursorError', reason: 'unreadable', processor: 'a' });

describe('fileStore', () => {
  itIsAStore(async () => fileStore(await folder()));

  it('has one file for a name, and one for each update put aside, for the owner alone', async () => {
    const base = await folder();
    const store = fileStore(base);
    await got(store.save('a', cursorAt(1), undefined));
    await got(store.park('a', 7, { offset: 7 }, undefined));
    expect((await readdir(base, { recursive: true })).sort()).toEqual([
      'a.json',
      'a.parked',
      join('a.parked', '0000000000000007.json'),
    ]);
    expect(JSON.parse(await readFile(join(base, 'a.json'), 'utf8'))).toEqual(cursorAt(1));
    const modes = [join(base, 'a.json'), join(base, 'a.parked')].map(async (path) => (await stat(path)).mode & 0o077);
    expect(await Promise.all(modes)).toEqual([0, 0]);
  });

  it('is found again by another process', async () => {
    const base = await folder();
    await got(fileStore(base).save('a', cursorAt(1), undefined));
    await got(fileStore(base).park('a', 7, { offset: 7 }, undefined));
    expect(await got(fileStore(base).load('a'))).toEqual(cursorAt(1));
    expect(await all(fileStore(base).parked('a'))).toEqual([{ offset: 7 }]);
    expect(await got(fileStore(base).unpark('a', 7, undefined))).toBe(true);
  });

  it('reads what was put aside one by one', async () => {
    const base = await folder();
    const store = fileStore(base);
    for (const offset of [1, 2]) await got(store.park('a', offset, { offset }, undefined));
    await writeFile(join(base, 'a.parked', '0000000000000002.json'), '{"off');
    expect(await firstValueFrom(from(store.parked('a')))).toEqual({ offset: 1 });
    await expect(all(store.parked('a'))).rejects.toEqual(unreadable);
  });

  it('passes over what is taken away while it is read, and over files of others', async () => {
    const base = await folder();
    const store = fileStore(base);
    for (const offset of [1, 2, 3]) await got(store.park('a', offset, { offset }, undefined));
    await writeFile(join(base, 'a.parked', '.DS_Store'), '');
    const seen: unknown[] = [];
    await from(store.parked('a')).forEach((parked) => {
      seen.push(parked);
      void got(store.unpark('a', 2, undefined));
    });
    expect(seen).toContainEqual({ offset: 3 });
    expect(await all(store.parked('a'))).toEqual([{ offset: 1 }, { offset: 3 }]);
  });

  describe('a file that is not whole', () => {
    it.each(['', ' ', '{"version":1,"off', '\0\0\0\0', 'undefined'])('is refused: %j', async (text) => {
      const base = await folder();
      await writeFile(join(base, 'a.json'), text);
      const store = fileStore(base);
      await expect(got(store.load('a'))).rejects.toEqual(unreadable);
      await expect(got(store.load('a'))).rejects.toBeInstanceOf(CursorError);
    });

    it('can be replaced by who has put things right', async () => {
      const base = await folder();
      await writeFile(join(base, 'a.json'), '');
      await got(fileStore(base).save('a', cursorAt(3), undefined));
      expect(await got(fileStore(base).load('a'))).toEqual(cursorAt(3));
    });

    it('is not quoted', async () => {
      const base = await folder();
      await writeFile(join(base, 'a.json'), 'secret');
      await expect(got(fileStore(base).load('a'))).rejects.toThrow(
        `What is stored of the processor is refused: ${join(base, 'a.json')} is not JSON.`,
      );
    });
  });

  describe('a folder that is not as it should be', () => {
    const calls = (base: string): readonly (() => Promise<unknown>)[] => {
      const store = fileStore(base);
      return [
        () => got(store.load('a')),
        () => got(store.save('a', cursorAt(1), undefined)),
        () => got(store.park('a', 1, {}, undefined)),
        () => all(store.parked('a')),
        () => got(store.unpark('a', 1, undefined)),
      ];
    };

    it('is an error where it is missing', async () => {
      const base = join(await folder(), 'missing');
      for (const call of calls(base)) await expect(call()).rejects.toMatchObject({ code: 'ENOENT' });
      await expect(stat(base)).rejects.toMatchObject({ code: 'ENOENT' });
    });

    it('is an error where it goes missing later, and no conflict; once it is back, so is the store', async () => {
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

    it('is an error where it is a file', async () => {
      const base = join(await folder(), 'file');
      await writeFile(base, '');
      for (const call of calls(base)) await expect(call()).rejects.toMatchObject({ code: 'ENOTDIR' });
    });

    (process.getuid?.() === 0 ? it.skip : it)('is an error where it must not be read', async () => {
      const base = await folder();
      await chmod(base, 0);
      for (const call of calls(base)) await expect(call()).rejects.toMatchObject({ code: 'EACCES' });
      await chmod(base, 0o700);
    });

    it('is an error where the cursor is a folder', async () => {
      const base = await folder();
      await mkdir(join(base, 'a.json'));
      await expect(got(fileStore(base).load('a'))).rejects.toMatchObject({ code: 'EISDIR' });
    });
  });

  describe('two that save under one name', () => {
    it('are told: who saves second does not overwrite', async () => {
      const base = await folder();
      const [first, second] = [fileStore(base), fileStore(base)];
      await got(first.save('a', cursorAt(1), undefined));
      expect(await got(second.load('a'))).toEqual(cursorAt(1));
      await got(second.save('a', cursorAt(2), undefined));
      for (let turn = 0; turn < 2; turn++) {
        await expect(got(first.save('a', cursorAt(5), undefined))).rejects.toEqual(conflict);
      }
      await got(second.save('a', cursorAt(3), undefined));
      expect(await got(second.load('a'))).toEqual(cursorAt(3));
    });

    it('are told where both found nothing', async () => {
      const base = await folder();
      const [first, second] = [fileStore(base), fileStore(base)];
      expect([await got(first.load('a')), await got(second.load('a'))]).toEqual([undefined, undefined]);
      await got(first.save('a', cursorAt(1), undefined));
      await expect(got(second.save('a', cursorAt(2), undefined))).rejects.toEqual(conflict);
    });

    it('are told where one has removed the file', async () => {
      const base = await folder();
      const store = fileStore(base);
      await got(store.save('a', cursorAt(1), undefined));
      await rm(join(base, 'a.json'));
      await expect(got(store.save('a', cursorAt(2), undefined))).rejects.toEqual(conflict);
      expect(await readdir(base)).toEqual([]);
    });

    it('may go on from what they load then', async () => {
      const base = await folder();
      const [first, second] = [fileStore(base), fileStore(base)];
      await got(first.save('a', cursorAt(1), undefined));
      await got(second.save('a', cursorAt(2), undefined));
      await expect(got(first.save('a', cursorAt(3), undefined))).rejects.toEqual(conflict);
      expect(await got(first.load('a'))).toEqual(cursorAt(2));
      await got(first.save('a', cursorAt(3), undefined));
      await expect(got(second.save('a', cursorAt(4), undefined))).rejects.toEqual(conflict);
    });

    it('are no conflict under two names', async () => {
      const base = await folder();
      const [first, second] = [fileStore(base), fileStore(base)];
      for (let offset = 0; offset < 3; offset++) {
        await got(first.save('a', cursorAt(offset), undefined));
        await got(second.save('A', cursorAt(offset), undefined));
      }
    });
  });

  describe('what a crash left', () => {
    const torn = (file: string): string => `${file}.0123456789abcdef.tmp`;

    it.each([
      ['load', (base: string) => got(fileStore(base).load('a'))],
      ['save', (base: string) => got(fileStore(base).save('a', cursorAt(2), undefined))],
      ['parked', (base: string) => all(fileStore(base).parked('a'))],
    ])('does no harm, and is gone after %s', async (_, call) => {
      const base = await folder();
      await got(fileStore(base).save('a', cursorAt(1), undefined));
      await got(fileStore(base).park('a', 1, { offset: 1 }, undefined));
      const foreign = ['b.json.0123456789abcdef.tmp', 'a.json.tmp', 'a.json.orig', 'aa.json.0123456789abcdef.tmp'];
      for (const file of [torn('a.json'), ...foreign]) await writeFile(join(base, file), '{"vers');
      await writeFile(join(base, 'a.parked', torn('0000000000000001.json')), '{"off');
      await call(base);
      expect((await readdir(base)).sort()).toEqual(['a.json', 'a.parked', ...foreign].sort());
      expect(await readdir(join(base, 'a.parked'))).toEqual(['0000000000000001.json']);
    });
  });

  it('takes relative folders from where the process was then', async () => {
    const base = await folder();
    const before = process.cwd();
    process.chdir(base);
    try {
      const store = fileStore('.');
      process.chdir(before);
      await got(store.save('a', cursorAt(1), undefined));
    } finally {
      process.chdir(before);
    }
    expect(await readdir(base)).toEqual(['a.json']);
  });
});
