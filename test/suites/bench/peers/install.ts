import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import type { Peer } from './Peer.js';

const home = (id: string): string => join(import.meta.dirname, '..', '..', '..', '..', '..', 'bench-peers', id);

const loader = 'load.js';

/** Installs what a peer is, away from the project: it never becomes a dependency of it. */
export async function install({ id, packages }: Peer): Promise<void> {
  const directory = home(id);
  if (existsSync(join(directory, 'node_modules'))) return;
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, 'package.json'), '{"private":true,"type":"module"}\n');
  writeFileSync(join(directory, loader), 'export const load = (name) => import(name);\n');
  const flags = ['--no-save', '--no-audit', '--no-fund', '--ignore-scripts', '--prefix', directory];
  await promisify(execFile)('npm', ['install', ...flags, ...packages], { cwd: directory, timeout: 120_000 });
}

/** A module of a peer, as its own directory imports it. Whether it is what the caller takes it for shows when it runs. */
export async function imported(id: string, name: string): Promise<Readonly<Record<string, unknown>>> {
  const { load } = (await import(pathToFileURL(join(home(id), loader)).href)) as {
    readonly load: (name: string) => Promise<Readonly<Record<string, unknown>>>;
  };
  return load(name);
}
