import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { constants, open, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { platform } from 'node:process';
import { Observable, repeat } from 'rxjs';
import { hasCode, type Paths } from './durable.js';

/** Returns the paths for a name in a folder. */
export function pathsOf(folder: string, name: string): Paths {
  const path = join(folder, fileNameOf(name));
  const parked = `${path}.parked`;
  return {
    cursor: `${path}.json`,
    lock: `${path}.lock`,
    parked,
    parkedAt: (offset) => join(parked, `${String(offset).padStart(16, '0')}.json`),
  };
}

/** Names of devices on Windows, with any extension. */
const device = /^(?:con|prn|aux|nul|com\d|lpt\d)$/;

/** The maximum length of a file name without its extension. Some file systems allow 143 characters at most. */
const maxLength = 100;

/**
 * Returns the name as a file name without an extension. Different names get different file names, even on file systems
 * that ignore case. The result has no dot and no upper-case letter. A name that is too long is replaced by its
 * beginning and a hash.
 */
function fileNameOf(name: string): string {
  const escaped = name
    .replace(/[^a-z0-9_-]/g, escapeFirst)
    .replace(device, (found) => escapeFirst(found) + found.slice(1));
  if (escaped.length > maxLength) return `${escaped.slice(0, 30)}%-${hashOf(name)}`;
  // neither `%` alone nor `%-` is an escape, so no other name gets the same result
  return escaped === '' ? '%' : escaped;
}

/** Escapes the first code unit of a text. Not the code point, so that different surrogates stay different. */
const escapeFirst = (text: string): string => {
  const unit = text.charCodeAt(0);
  return unit < 0x100 ? `%${unit.toString(16).padStart(2, '0')}` : `%u${unit.toString(16).padStart(4, '0')}`;
};

const hashOf = (name: string): string => createHash('sha256').update(Buffer.from(name, 'utf16le')).digest('hex');

/** A lock that is held. */
interface Lock {
  close(): unknown;
}

/** How often a process tries to acquire a lock while another one holds it, in milliseconds. */
const pollMs = 250;

/**
 * Waits until no other process of this machine holds a name in a folder, then holds it and emits once. The operating
 * system releases the lock when the process ends, even if it is killed, so a crash leaves nothing to clean up.
 *
 * @param release - runs the function that releases the lock, for example after work that has not ended yet
 * @param standBy - called each time that another process is found to hold the name
 */
export const acquireLock = (
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
