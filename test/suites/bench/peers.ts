import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import type { BoundedRange } from './variants/read.js';
import { zodPage } from './zodPage.js';

/** Another client of the same interface, and its packages, which are installed in a directory of their own. */
export interface Peer {
  readonly id: string;
  readonly packages: readonly string[];
}

/** Reads one page with a peer. */
export type ReadPage = (range: BoundedRange) => Promise<unknown>;

const home = (id: string): string => join(import.meta.dirname, '..', '..', '..', '..', 'bench-peers', id);

const loader = 'load.js';

/** Installs a peer's packages outside of the project, so that they never become its dependencies. */
export async function install({ id, packages }: Peer): Promise<void> {
  const directory = home(id);
  if (existsSync(join(directory, 'node_modules'))) return;
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, 'package.json'), '{"private":true,"type":"module"}\n');
  writeFileSync(join(directory, loader), 'export const load = (name) => import(name);\n');
  const flags = ['--no-save', '--no-audit', '--no-fund', '--ignore-scripts', '--prefix', directory];
  await promisify(execFile)('npm', ['install', ...flags, ...packages], { cwd: directory, timeout: 120_000 });
}

/** Imports a module of a peer from the peer's directory. Its type is not checked. */
async function importFrom(id: string, name: string): Promise<Readonly<Record<string, unknown>>> {
  const { load } = (await import(pathToFileURL(join(home(id), loader)).href)) as {
    readonly load: (name: string) => Promise<Readonly<Record<string, unknown>>>;
  };
  return load(name);
}

export const official: Peer = { id: 'official', packages: ['@canton-network/core-ledger-client@1.8.0'] };

interface Client {
  readonly post: (path: string, body: object, params: object) => Promise<unknown>;
}
type ClientClass = new (options: object) => Client;

const silent = { child: () => silent, debug: () => undefined, info: () => undefined, warn: () => undefined };

/** The vendor's own client, which validates nothing. */
export async function officialReader(url: string): Promise<ReadPage> {
  const { LedgerClient } = (await importFrom('official', '@canton-network/core-ledger-client')) as unknown as {
    readonly LedgerClient: ClientClass;
  };
  const client = new LedgerClient({
    baseUrl: new URL(url),
    logger: silent,
    accessTokenProvider: { getAccessToken: () => Promise.resolve('') },
    version: '3.5',
  });
  return (range) => client.post('/v2/updates/flats', range, { query: { limit: 200 } });
}

export const openapi: Peer = { id: 'openapi', packages: ['openapi-fetch@0.17.0'] };

type Post = (path: string, options: object) => Promise<{ readonly data: unknown }>;
type CreateClient = (options: object) => { readonly POST: Post };

/** openapi-fetch with a function that processes each answer. */
async function openapiReader(url: string, read: (data: unknown) => unknown): Promise<ReadPage> {
  const module = await importFrom('openapi', 'openapi-fetch');
  const { POST } = (module['default'] as CreateClient)({ baseUrl: url });
  return async (body) => read((await POST('/v2/updates/flats', { body, params: { query: { limit: 200 } } })).data);
}

/** openapi-fetch alone, which validates nothing. */
export const openapiFetchReader = (url: string): Promise<ReadPage> => openapiReader(url, (data) => data);

/** openapi-fetch with a zod schema. */
export async function openapiZodReader(url: string): Promise<ReadPage> {
  const page = zodPage();
  return openapiReader(url, (data) => page.parse(data));
}
