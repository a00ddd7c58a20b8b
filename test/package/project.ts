import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const exec = promisify(execFile);

/** The folder of this repository. */
export const root = join(import.meta.dirname, '..', '..');

/** What a command printed. */
export interface Printed {
  readonly stdout: string;
  readonly stderr: string;
}

/** A project of somebody who installed the packed library. */
export interface Project {
  readonly folder: string;
  readonly run: (command: string, ...args: readonly string[]) => Promise<Printed>;
  readonly write: (file: string, content: string) => Promise<void>;
  readonly remove: () => Promise<void>;
}

/** Packs the library as it is published, and installs it into an empty project. */
export async function project(): Promise<Project> {
  const folder = await mkdtemp(join(tmpdir(), 'canton-rx-'));
  const { stdout } = await exec('npm', ['pack', '--json', '--pack-destination', folder], { cwd: root });
  const tarball = /"filename": "([^"]+\.tgz)"/.exec(stdout)?.[1] ?? '';
  await writeFile(join(folder, 'package.json'), JSON.stringify({ name: 'app', private: true }));
  await exec('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', `./${tarball}`, 'rxjs@7.8.2'], {
    cwd: folder,
  });
  return {
    folder,
    run: (command, ...args) => exec(command, [...args], { cwd: folder }),
    write: (file, content) => writeFile(join(folder, file), content),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
