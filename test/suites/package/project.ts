import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';

const exec = promisify(execFile);

/** The root of this repository. */
export const root = join(import.meta.dirname, '..', '..', '..');

/** The output of a command. */
export interface Printed {
  readonly stdout: string;
  readonly stderr: string;
}

/** A project with the packed library installed. */
export interface Project {
  readonly folder: string;
  readonly run: (command: string, ...args: readonly string[]) => Promise<Printed>;
  readonly write: (file: string, content: string) => Promise<void>;
  readonly remove: () => Promise<void>;
}

/** A package with its version from this repository's lock. */
export const lockedVersion = async (name: string): Promise<string> => {
  const lock = await readFile(join(root, 'package-lock.json'), 'utf8');
  const version = new RegExp(`"node_modules/${name}": \\{\\s*"version": "([^"]+)"`).exec(lock)?.[1];
  if (version === undefined) throw new Error(`${name} is not in the lock`);
  return `${name}@${version}`;
};

/** Packs the built library as it is published, unless `CANTON_RX_TARBALL` has it already. Returns the file. */
export async function packInto(folder: string): Promise<string> {
  const packed = process.env['CANTON_RX_TARBALL'];
  if (packed !== undefined) return packed;
  const { stdout } = await exec('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder], {
    cwd: root,
  });
  return join(folder, stdout.trim());
}

/**
 * An empty project with the packed library, and with the dependencies of this repository's lock, so that sizes do not depend
 * on the day. It is installed once if `CANTON_RX_PROJECT` names a folder for that, and copied next to it.
 */
export async function project(): Promise<Project> {
  const shared = process.env['CANTON_RX_PROJECT'];
  const folder = shared === undefined ? await install(join(tmpdir(), 'canton-rx-')) : await copyOf(shared);
  return {
    folder,
    run: (command, ...args) => exec(command, [...args], { cwd: folder }),
    write: (file, content) => writeFile(join(folder, file), content),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Installs a project into a new folder whose path begins so. Returns the folder. */
async function install(prefix: string): Promise<string> {
  const folder = await mkdtemp(prefix);
  const tarball = await packInto(folder);
  await writeFile(join(folder, 'package.json'), JSON.stringify({ name: 'app', private: true }));
  const dependencies = await Promise.all(['rxjs', 'ky', 'io-ts', 'fp-ts', 'tslib'].map(lockedVersion));
  await exec('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', tarball, ...dependencies], {
    cwd: folder,
  });
  return folder;
}

/** Copies a project, which is installed first if it is missing. The copy is next to it: npm writes relative paths. */
async function copyOf(shared: string): Promise<string> {
  if (!existsSync(shared)) {
    const made = await install(`${shared}-made-`);
    // another process may have been faster
    await rename(made, shared).catch(() => rm(made, { recursive: true, force: true }));
  }
  const folder = await mkdtemp(`${shared}-`);
  await exec('cp', ['-a', `${shared}/.`, folder]);
  return folder;
}
