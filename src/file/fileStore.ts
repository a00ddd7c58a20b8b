import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { constants, open, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { platform } from 'node:process';
import { Observable, repeat, tap } from 'rxjs';
import { CursorError } from '../errors/process.js';
import type { CheckpointStore } from '../process/CheckpointStore.js';
import { checkParked } from '../process/checkParked.js';
import {
  filesIn,
  hasCode,
  makeFolder,
  type Paths,
  pathsOf,
  readText,
  removeFile,
  replaceFile,
  sweep,
  syncFolder,
} from './files.js';

/**
 * Returns a store of files, readable by their owner only: `<name>.json` in a folder for the cursor of a name,
 * `<name>.parked/<offset>.json` for each parked update, and on macOS an empty `<name>.lock`. Characters that a file name cannot have are escaped with `%`.
 *
 * A save replaces the complete file, which is on disk when the save resolves: after a crash at any moment, the file has
 * the last save or the one before it. Saves of one name run one after the other.
 *
 * Of several processors with the same name in the same folder, one works, and the others wait until it has ended. This
 * applies to the processes of one machine. The operating system releases the lock when a process ends, even if it is
 * killed. On Linux, the lock does not apply between containers that share the folder but not their network.
 *
 * The store also remembers the cursor that it last loaded or saved. If a save finds a different cursor in the file, or
 * none, it rejects with a `CursorError` (`conflict`) until the cursor is loaded again. So does the first load of a process
 * that waited for the name, if the cursor was removed meanwhile. Of two processors that the lock does not keep apart, one
 * gets this error. A file that is not JSON is also a `CursorError` (`unreadable`). An error of the operating system, such
 * as a full disk, rejects with the error of Node.js and changes nothing.
 *
 * @param folder - an existing folder on a local disk. If it does not exist, calls reject
 *
 * @example
 * ```ts
 * import { mkdtemp, readdir, rm } from 'node:fs/promises';
 * import { tmpdir } from 'node:os';
 * import { join } from 'node:path';
 * import { lastValueFrom, from } from 'rxjs';
 * import { fileStore } from 'canton-rx/file';
 *
 * const folder = await mkdtemp(join(tmpdir(), 'cursors-'));
 * const store = fileStore(folder);
 * await lastValueFrom(from(store.save('orders', { version: 1, offset: 7, recordTimes: {}, selection: 'any' })));
 *
 * console.log(await readdir(folder));
 * // => [ 'orders.json' ]
 * await rm(folder, { recursive: true });
 * ```
 *
 * @category Stores
 */
export function fileStore(folder: string): Required<CheckpointStore> {
  const base = resolve(folder);
  const inOrder = serialize();
  const swept = new Set<string>();
  /** The texts that the cursor file of a name may have. After a failed save there are two: the old and the new text. */
  const expected = new Map<string, readonly (string | undefined)[]>();
  /** Files removed by a call that then failed. */
  const removed = new Set<string>();
  /** The names that another process holds, and may be writing. */
  const waiting = new Set<string>();
  /** The names that had a cursor when they were read while another process held them. */
  const awaited = new Set<string>();

  const withPaths = <A>(name: string, work: (paths: Paths) => Promise<A>): Promise<A> =>
    inOrder(name, async () => {
      const paths = pathsOf(base, name);
      if (waiting.has(name)) return work(paths);
      if (!swept.has(name)) await sweep(paths);
      swept.add(name);
      return work(paths);
    });

  return {
    load: (name) =>
      withPaths(name, async ({ cursor }) => {
        const text = await readText(cursor);
        const hadCursor = awaited.delete(name);
        if (waiting.has(name) && text !== undefined) awaited.add(name);
        // it would look like that of a new processor, which handles every update again
        if (!waiting.has(name) && hadCursor && text === undefined) throw conflict(name, cursor);
        expected.set(name, [text]);
        return text === undefined ? undefined : parseJson(text, cursor, name);
      }),

    save: (name, value) => {
      const text = toText(value);
      return withPaths(name, async ({ cursor }) => {
        const current = await readText(cursor);
        if (expected.get(name)?.includes(current) === false) throw conflict(name, cursor);
        expected.set(name, [current, text]);
        await replaceFile(cursor, text);
        expected.set(name, [text]);
      });
    },

    park: (name, offset, value) => {
      const text = toText(value);
      return withPaths(name, async ({ parked, parkedAt }) => {
        await makeFolder(parked);
        const file = parkedAt(offset);
        const before = await readText(file);
        if (before !== undefined) checkParked(name, offset, parseJson(before, file, name), value);
        await replaceFile(file, text);
      });
    },

    async *parked(name) {
      const { parked } = pathsOf(base, name);
      const files = await withPaths(name, () => filesIn(parked));
      for (const file of files.filter((found) => /^\d{16}\.json$/.test(found)).map((found) => join(parked, found))) {
        const text = await readText(file);
        // it may have been removed since the folder was read
        if (text !== undefined) yield parseJson(text, file, name);
      }
    },

    unpark: (name, offset) =>
      withPaths(name, async ({ parked, parkedAt }) => {
        const file = parkedAt(offset);
        if (await removeFile(file, base)) removed.add(file);
        if (removed.has(file)) await syncFolder(parked);
        return removed.delete(file);
      }),

    // released after the last call: the next holder must not be overwritten by a save that is still running
    hold: (name, standBy) => {
      const wait = (): void => {
        waiting.add(name);
        standBy?.();
      };
      const release = (close: () => Promise<void>) => inOrder(name, close);
      return acquireLock(base, name, pathsOf(base, name), release, wait).pipe(
        tap(() => {
          waiting.delete(name);
        }),
      );
    },
  };
}

const conflict = (name: string, file: string): CursorError =>
  new CursorError('conflict', name, `${file} was changed or removed since this store read or wrote it`);

/**
 * Runs the work of one name in the order of the calls. Work that hangs blocks the next, which it might otherwise
 * overwrite later.
 */
function serialize(): <A>(name: string, work: () => Promise<A>) => Promise<A> {
  const last = new Map<string, Promise<unknown>>();
  return (name, work) => {
    const result = (last.get(name) ?? Promise.resolve()).then(work);
    last.set(
      name,
      result.catch(() => undefined),
    );
    return result;
  };
}

/** Parses the text of a file. Throws a `CursorError`, which does not quote the text, if it is not JSON. */
function parseJson(text: string, file: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new CursorError('unreadable', name, `${file} is not JSON`);
  }
}

const toText = (value: unknown): string => `${JSON.stringify(value)}\n`;

/** A lock that is held. */
interface Lock {
  close(): unknown;
}

/** The interval at which a process tries to acquire a lock that another one holds, in milliseconds. */
const pollMs = 250;

/**
 * Waits until no other process of this machine holds a name in a folder, then holds it and emits once. The operating
 * system releases the lock when the process ends, even if it is killed, so a crash leaves nothing to clean up.
 *
 * @param release - runs the function that releases the lock, for example after work that has not ended yet
 * @param standBy - called each time that another process is found to hold the name
 */
const acquireLock = (
  folder: string,
  name: string,
  paths: Paths,
  release: (close: () => Promise<void>) => unknown,
  standBy?: () => void,
): Observable<unknown> =>
  new Observable((subscriber) => {
    const attempt = tryLock(folder, name, paths);
    attempt.then(
      (lock) => {
        if (lock !== undefined) {
          subscriber.next(true);
          return;
        }
        standBy?.();
        subscriber.complete();
      },
      (error: unknown) => {
        subscriber.error(error);
      },
    );
    return () => {
      const close = async (): Promise<void> => {
        const lock = await attempt;
        await lock?.close();
      };
      release(close);
    };
  }).pipe(repeat({ delay: pollMs }));

/** Resolves to the lock, or to `undefined` if another process holds it. */
const tryLock = async (folder: string, name: string, { lock }: Paths): Promise<Lock | undefined> => {
  try {
    return await (hasFileLocks ? lockFile(lock) : listenAt(await addressOf(folder, name)));
  } catch (error) {
    if (hasCode(error, 'EADDRINUSE', 'EAGAIN')) return undefined;
    throw error;
  }
};

/** Whether opening a file can lock it, as on macOS and BSD. Node.js has no other access to such locks. */
const hasFileLocks = ['darwin', 'freebsd', 'openbsd'].includes(platform);

/** The flag that locks a file while it is open. Node.js has no constant for it. */
const exclusiveLock = 0x20;

const lockFile = (file: string): Promise<Lock> =>
  open(file, constants.O_RDWR | constants.O_CREAT | constants.O_NONBLOCK | exclusiveLock, 0o600);

/**
 * Returns an address that only one process can listen at, and that is not a file: an abstract socket on Linux, a named
 * pipe on Windows. It depends on the identity of the folder, which has the same address under each of its paths.
 */
async function addressOf(folder: string, name: string): Promise<string> {
  const { dev, ino } = await stat(folder, { bigint: true });
  const id = createHash('sha256').update(`${dev}:${ino}:${name}`).digest('hex').slice(0, 40);
  return platform === 'win32' ? `\\\\.\\pipe\\canton-rx-${id}` : `\0canton-rx-${id}`;
}

async function listenAt(path: string): Promise<Lock> {
  const server = createServer((socket) => socket.destroy()).unref();
  // exclusive, because the workers of a cluster otherwise share an address
  server.listen({ path, exclusive: true });
  await once(server, 'listening');
  // a connection that cannot be accepted does not matter
  server.on('error', () => undefined);
  return server;
}
