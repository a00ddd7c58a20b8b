import * as real from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { all, cursorAt, got } from '../process/storeContract.js';
import { folders } from './folders.js';

/** What is done on the way, and may fail or hang: `write`, `sync`, `close`, `rename` and `syncFolder`. */
type Step = 'write' | 'sync' | 'close' | 'rename' | 'syncFolder';
let on: (step: Step) => Promise<void> | undefined;
beforeEach(() => {
  on = () => undefined;
});

// each step as the operating system does it, and `on` before it
jest.unstable_mockModule('node:fs/promises', () => ({
  ...real,
  open: async (path: string, flags: string, mode?: number) => {
    const handle = await real.open(path, flags, mode);
    const [write, sync, close] = [handle.writeFile.bind(handle), handle.sync.bind(handle), handle.close.bind(handle)];
    return Object.assign(handle, {
      writeFile: async (text: string) => {
        await on('write');
        return write(text);
      },
      sync: async () => {
        await on(flags === 'r' ? 'syncFolder' : 'sync');
        return sync();
      },
      close: async () => {
        await close();
        await on('close');
      },
    });
  },
  rename: async (from: string, to: string) => {
    await on('rename');
    return real.rename(from, to);
  },
}));
const { fileStore } = await import('../../src/file/fileStore.js');

const folder = folders();
const failure = (code: string): Error => Object.assign(new Error(`${code}: it fails`), { code });
/** The first such step fails. */
const failOnce = (step: Step, error: Error): void => {
  on = (found) => {
    if (found !== step) return undefined;
    on = () => undefined;
    return Promise.reject(error);
  };
};

describe('fileStore', () => {
  it('renames what has reached the disk, and sees to it that the renaming does', async () => {
    const store = fileStore(await folder());
    const steps: Step[] = [];
    on = (step) => {
      steps.push(step);
      return undefined;
    };
    await got(store.save('a', cursorAt(1), undefined));
    const replaced = ['write', 'sync', 'close', 'rename', 'syncFolder', 'close'];
    expect(steps.splice(0)).toEqual(replaced);
    await got(store.park('a', 1, {}, undefined));
    expect(steps.splice(0)).toEqual(['syncFolder', 'close', ...replaced]);
    await got(store.unpark('a', 1, undefined));
    expect(steps).toEqual(['syncFolder', 'close']);
  });
});

describe('fileStore, when the disk fails', () => {
  it.each(['write', 'sync', 'close', 'rename'] as const)(
    'passes on the error, keeps the old cursor and leaves nothing behind: %s',
    async (step) => {
      const base = await folder();
      const store = fileStore(base);
      await got(store.save('a', cursorAt(1), undefined));
      const full = failure('ENOSPC');
      failOnce(step, full);
      await expect(got(store.save('a', cursorAt(2), undefined))).rejects.toBe(full);
      expect(await real.readdir(base)).toEqual(['a.json']);
      expect(JSON.parse(await real.readFile(join(base, 'a.json'), 'utf8'))).toEqual(cursorAt(1));
      await got(store.save('a', cursorAt(2), undefined));
      expect(await got(store.load('a'))).toEqual(cursorAt(2));
    },
  );

  it('takes its own cursor for none of another one when a save failed after it was done', async () => {
    const store = fileStore(await folder());
    await got(store.save('a', cursorAt(1), undefined));
    for (let turn = 0; turn < 3; turn++) {
      failOnce('syncFolder', failure('EIO'));
      await expect(got(store.save('a', cursorAt(2), undefined))).rejects.toThrow('EIO');
    }
    await got(store.save('a', cursorAt(2), undefined));
    failOnce('syncFolder', failure('EIO'));
    await expect(got(store.save('a', cursorAt(3), undefined))).rejects.toThrow('EIO');
    await got(store.save('a', cursorAt(4), undefined));
    expect(await got(store.load('a'))).toEqual(cursorAt(4));
  });

  it('tells of another one also after a save of its own that failed', async () => {
    const base = await folder();
    const [store, other] = [fileStore(base), fileStore(base)];
    failOnce('syncFolder', failure('EIO'));
    await expect(got(store.save('a', cursorAt(1), undefined))).rejects.toThrow('EIO');
    await got(other.save('a', cursorAt(9), undefined));
    await expect(got(store.save('a', cursorAt(1), undefined))).rejects.toMatchObject({ reason: 'conflict' });
  });

  it.each(['EISDIR', 'EPERM', 'EINVAL'])(
    'does without syncs of folders where the platform has none: %s',
    async (code) => {
      const store = fileStore(await folder());
      on = (step) => (step === 'syncFolder' ? Promise.reject(failure(code)) : undefined);
      await got(store.save('a', cursorAt(1), undefined));
      await got(store.park('a', 1, {}, undefined));
      expect(await got(store.unpark('a', 1, undefined))).toBe(true);
    },
  );

  it('puts aside as a whole or not at all', async () => {
    const base = await folder();
    const store = fileStore(base);
    await got(store.park('a', 7, { attempts: 1 }, undefined));
    failOnce('write', failure('ENOSPC'));
    await expect(got(store.park('a', 7, { attempts: 2 }, undefined))).rejects.toThrow('ENOSPC');
    expect(await all(store.parked('a'))).toEqual([{ attempts: 1 }]);
    expect(await real.readdir(join(base, 'a.parked'))).toHaveLength(1);
  });

  it('says that an update was there when it is asked again after it failed', async () => {
    const store = fileStore(await folder());
    await got(store.park('a', 7, {}, undefined));
    failOnce('syncFolder', failure('EIO'));
    await expect(got(store.unpark('a', 7, undefined))).rejects.toThrow('EIO');
    expect(await got(store.unpark('a', 7, undefined))).toBe(true);
    expect(await got(store.unpark('a', 7, undefined))).toBe(false);
  });
});

describe('fileStore, when the disk hangs', () => {
  it.each(['write', 'sync', 'rename', 'syncFolder'] as const)(
    'lets no save or load pass one of the same name that hangs, and others go on: %s',
    async (step) => {
      const store = fileStore(await folder());
      let goOn: () => void = () => undefined;
      const isHanging = new Promise<void>((resolve) => {
        on = (found) => {
          if (found !== step) return undefined;
          on = () => undefined;
          resolve();
          return new Promise((done) => {
            goOn = done;
          });
        };
      });
      const order: string[] = [];
      const told = (what: string) => (value: unknown) => {
        order.push(what);
        return value;
      };
      const first = got(store.save('a', cursorAt(1), undefined)).then(told('first'));
      await isHanging;
      const second = got(store.save('a', cursorAt(2), undefined)).then(told('second'));
      const loaded = got(store.load('a')).then(told('loaded'));
      await got(store.save('b', cursorAt(3), undefined)).then(told('other'));
      goOn();
      await Promise.all([first, second]);
      expect(await loaded).toEqual(cursorAt(2));
      expect(order).toEqual(['other', 'first', 'second', 'loaded']);
    },
  );

  it('goes on after one that failed', async () => {
    const store = fileStore(await folder());
    failOnce('rename', failure('EIO'));
    const saves = [1, 2, 3].map((offset) => got(store.save('a', cursorAt(offset), undefined)));
    expect((await Promise.allSettled(saves)).map(({ status }) => status)).toEqual([
      'rejected',
      'fulfilled',
      'fulfilled',
    ]);
    expect(await got(store.load('a'))).toEqual(cursorAt(3));
  });
});
