import * as real from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { allValues, cursorAt, lastValue } from '../process/storeContract.js';
import { folders } from './folders.js';

/** A step of the file system that may fail or hang. */
type Step = 'write' | 'sync' | 'close' | 'rename' | 'syncFolder';
/** Called before each step; the step fails if it rejects. */
let on: (step: Step) => Promise<void> | undefined;
beforeEach(() => {
  on = () => undefined;
});

// the real file system, with `on` before each step
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
/** Makes the next such step fail. */
const failOnce = (step: Step, error: Error): void => {
  on = (found) => {
    if (found !== step) return undefined;
    on = () => undefined;
    return Promise.reject(error);
  };
};

describe('fileStore', () => {
  it('syncs a file before its renaming, and the folder after it', async () => {
    const store = fileStore(await folder());
    const steps: Step[] = [];
    on = (step) => {
      steps.push(step);
      return undefined;
    };
    await lastValue(store.save('a', cursorAt(1), undefined));
    const replaced = ['write', 'sync', 'close', 'rename', 'syncFolder', 'close'];
    expect(steps.splice(0)).toEqual(replaced);
    await lastValue(store.park('a', 1, {}, undefined));
    expect(steps.splice(0)).toEqual(['syncFolder', 'close', ...replaced]);
    await lastValue(store.unpark('a', 1, undefined));
    expect(steps).toEqual(['syncFolder', 'close']);
  });
});

describe('fileStore, when the disk fails', () => {
  it.each(['write', 'sync', 'close', 'rename'] as const)(
    'rejects with the error, keeps the old cursor and leaves no temporary file: %s',
    async (step) => {
      const base = await folder();
      const store = fileStore(base);
      await lastValue(store.save('a', cursorAt(1), undefined));
      const full = failure('ENOSPC');
      failOnce(step, full);
      await expect(lastValue(store.save('a', cursorAt(2), undefined))).rejects.toBe(full);
      expect(await real.readdir(base)).toEqual(['a.json']);
      expect(JSON.parse(await real.readFile(join(base, 'a.json'), 'utf8'))).toEqual(cursorAt(1));
      await lastValue(store.save('a', cursorAt(2), undefined));
      expect(await lastValue(store.load('a'))).toEqual(cursorAt(2));
    },
  );

  it('does not mistake its own cursor for a conflict when a save failed after the renaming', async () => {
    const store = fileStore(await folder());
    await lastValue(store.save('a', cursorAt(1), undefined));
    for (let turn = 0; turn < 3; turn++) {
      failOnce('syncFolder', failure('EIO'));
      await expect(lastValue(store.save('a', cursorAt(2), undefined))).rejects.toThrow('EIO');
    }
    await lastValue(store.save('a', cursorAt(2), undefined));
    failOnce('syncFolder', failure('EIO'));
    await expect(lastValue(store.save('a', cursorAt(3), undefined))).rejects.toThrow('EIO');
    await lastValue(store.save('a', cursorAt(4), undefined));
    expect(await lastValue(store.load('a'))).toEqual(cursorAt(4));
  });

  it('rejects with a conflict also after a save of its own failed', async () => {
    const base = await folder();
    const [store, other] = [fileStore(base), fileStore(base)];
    failOnce('syncFolder', failure('EIO'));
    await expect(lastValue(store.save('a', cursorAt(1), undefined))).rejects.toThrow('EIO');
    await lastValue(other.save('a', cursorAt(9), undefined));
    await expect(lastValue(store.save('a', cursorAt(1), undefined))).rejects.toMatchObject({ reason: 'conflict' });
  });

  it.each(['EISDIR', 'EPERM', 'EINVAL'])('works on platforms that cannot sync folders: %s', async (code) => {
    const store = fileStore(await folder());
    on = (step) => (step === 'syncFolder' ? Promise.reject(failure(code)) : undefined);
    await lastValue(store.save('a', cursorAt(1), undefined));
    await lastValue(store.park('a', 1, {}, undefined));
    expect(await lastValue(store.unpark('a', 1, undefined))).toBe(true);
  });

  it('parks an update as a whole or not at all', async () => {
    const base = await folder();
    const store = fileStore(base);
    await lastValue(store.park('a', 7, { attempts: 1 }, undefined));
    failOnce('write', failure('ENOSPC'));
    await expect(lastValue(store.park('a', 7, { attempts: 2 }, undefined))).rejects.toThrow('ENOSPC');
    expect(await allValues(store.parked('a'))).toEqual([{ attempts: 1 }]);
    expect(await real.readdir(join(base, 'a.parked'))).toHaveLength(1);
  });

  it('emits that an update was there when unpark is repeated after a failure', async () => {
    const store = fileStore(await folder());
    await lastValue(store.park('a', 7, {}, undefined));
    failOnce('syncFolder', failure('EIO'));
    await expect(lastValue(store.unpark('a', 7, undefined))).rejects.toThrow('EIO');
    expect(await lastValue(store.unpark('a', 7, undefined))).toBe(true);
    expect(await lastValue(store.unpark('a', 7, undefined))).toBe(false);
  });
});

describe('fileStore, when the disk hangs', () => {
  it.each(['write', 'sync', 'rename', 'syncFolder'] as const)(
    'makes later calls of the same name wait, and not those of other names: %s',
    async (step) => {
      const store = fileStore(await folder());
      let resume: () => void = () => undefined;
      const hanging = new Promise<void>((resolve) => {
        on = (found) => {
          if (found !== step) return undefined;
          on = () => undefined;
          resolve();
          return new Promise((done) => {
            resume = done;
          });
        };
      });
      const order: string[] = [];
      const record = (what: string) => (value: unknown) => {
        order.push(what);
        return value;
      };
      const first = lastValue(store.save('a', cursorAt(1), undefined)).then(record('first'));
      await hanging;
      const second = lastValue(store.save('a', cursorAt(2), undefined)).then(record('second'));
      const loaded = lastValue(store.load('a')).then(record('loaded'));
      await lastValue(store.save('b', cursorAt(3), undefined)).then(record('other'));
      resume();
      await Promise.all([first, second]);
      expect(await loaded).toEqual(cursorAt(2));
      expect(order).toEqual(['other', 'first', 'second', 'loaded']);
    },
  );

  it('continues after a save that failed', async () => {
    const store = fileStore(await folder());
    failOnce('rename', failure('EIO'));
    const saves = [1, 2, 3].map((offset) => lastValue(store.save('a', cursorAt(offset), undefined)));
    expect((await Promise.allSettled(saves)).map(({ status }) => status)).toEqual([
      'rejected',
      'fulfilled',
      'fulfilled',
    ]);
    expect(await lastValue(store.load('a'))).toEqual(cursorAt(3));
  });
});
