import { join, resolve } from 'node:path';
import { CursorError } from '../errors/process.js';
import type { CheckpointStore } from '../process/CheckpointStore.js';
import { filesIn, makeFolder, readText, removeFile, replaceFile, sweep, syncFolder } from './durable.js';
import { type Paths, pathsOf } from './paths.js';

/**
 * A store of files, one for each name: `<name>.json` in a folder, and `<name>.parked/<offset>.json` for each update that
 * was put aside, readable by their owner alone. What a file name cannot have is escaped in it with `%`.
 *
 * A save replaces the file as a whole, and has reached the disk when it is over: after a crash at any moment the file is
 * what was saved last, or the save before it. Saves of one name are done one after the other.
 *
 * The store remembers what it loaded or saved last. Where it finds another cursor when it saves, or none any more, it
 * errors with a `CursorError` (`conflict`) until that is loaded. This is no lock: of two processes that save at
 * the very same moment, one is told at its next save. A file that is not JSON is a `CursorError` (`unreadable`) too. What
 * the operating system refuses, a full disk for one, rejects with the error of Node.js, and changes nothing.
 *
 * @param folder - on a local disk, and there already: one that is missing is an error, not a place where nothing was saved
 *
 * @example
 * ```ts
 * import { mkdtemp, readdir, rm } from 'node:fs/promises';
 * import { tmpdir } from 'node:os';
 * import { join } from 'node:path';
 * import { lastValueFrom, from } from 'rxjs';
 * import { fileStore } from 'canton-rx/file';
 *
 * const folder = await mkdtemp(join(tmpdir(), 'places-'));
 * const store = fileStore(folder);
 * await lastValueFrom(from(store.save('orders', { version: 1, offset: 7, recordTimes: {}, selection: 'any' })));
 *
 * console.log(await readdir(folder));
 * // => [ 'orders.json' ]
 * await rm(folder, { recursive: true });
 * ```
 */
export function fileStore(folder: string): Required<CheckpointStore> {
  const base = resolve(folder);
  const inTurn = serially();
  const swept = new Set<string>();
  /** What the file of a name may be, as far as this store knows: after a save that failed, what was or what should be. */
  const left = new Map<string, readonly (string | undefined)[]>();
  /** What was removed before it could be said. */
  const removed = new Set<string>();

  const doing = <A>(name: string, work: (paths: Paths) => Promise<A>): Promise<A> =>
    inTurn(name, async () => {
      const paths = pathsOf(base, name);
      if (!swept.has(name)) await sweep(paths);
      swept.add(name);
      return work(paths);
    });

  return {
    load: (name) =>
      doing(name, async ({ cursor }) => {
        const text = await readText(cursor);
        left.set(name, [text]);
        return text === undefined ? undefined : jsonOf(text, cursor, name);
      }),

    save: (name, value) => {
      const text = textOf(value);
      return doing(name, async ({ cursor }) => {
        const found = await readText(cursor);
        if (left.get(name)?.includes(found) === false) throw conflict(name, cursor);
        left.set(name, [found, text]);
        await replaceFile(cursor, text);
        left.set(name, [text]);
      });
    },

    park: (name, offset, value) => {
      const text = textOf(value);
      return doing(name, async ({ parked, parkedAt }) => {
        await makeFolder(parked);
        await replaceFile(parkedAt(offset), text);
      });
    },

    async *parked(name) {
      const { parked } = pathsOf(base, name);
      const files = await doing(name, () => filesIn(parked));
      for (const file of files.filter((found) => /^\d{16}\.json$/.test(found)).map((found) => join(parked, found))) {
        const text = await readText(file);
        // it may have been taken away meanwhile
        if (text !== undefined) yield jsonOf(text, file, name);
      }
    },

    unpark: (name, offset) =>
      doing(name, async ({ parked, parkedAt }) => {
        const file = parkedAt(offset);
        if (await removeFile(file, base)) removed.add(file);
        if (removed.has(file)) await syncFolder(parked);
        return removed.delete(file);
      }),
  };
}

const conflict = (name: string, file: string): CursorError =>
  new CursorError(
    'conflict',
    name,
    `${file} is not what this store left there: another one saved it, or it was removed`,
  );

/** Does work of one name after the other, as it was asked for: what hangs is waited for, and never comes out later on top. */
function serially(): <A>(name: string, work: () => Promise<A>) => Promise<A> {
  const last = new Map<string, Promise<unknown>>();
  return (name, work) => {
    const done = (last.get(name) ?? Promise.resolve()).then(work);
    last.set(
      name,
      done.catch(() => undefined),
    );
    return done;
  };
}

/** What the text of a file says. It errors with a `CursorError` where that is not JSON; what stands there is not quoted. */
function jsonOf(text: string, file: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new CursorError('unreadable', name, `${file} is not JSON`);
  }
}

const textOf = (value: unknown): string => `${JSON.stringify(value)}\n`;
