import { once } from 'node:events';
import type { Server, Socket } from 'node:net';
import { afterEach, beforeEach, expect } from '@jest/globals';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../../src/sandbox/index.js';
import { httpServer } from '../../helpers/localServers.js';
import { useProcessTime } from '../../helpers/time.js';
import { runCli } from '../runCli.js';

interface JsonFinding {
  readonly id: string;
  readonly state: string;
  readonly text: string;
  readonly next?: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

/** A report of `canton-rx check --json`. */
export interface JsonReport {
  readonly code: number;
  /** All that was printed. */
  readonly printed: string;
  readonly finding: (id: string) => JsonFinding | undefined;
  readonly ids: readonly string[];
}

/** Runs `canton-rx check --json` on a ledger. */
export async function runCheck(
  url: string,
  env: Readonly<Record<string, string>> = {},
  options: readonly string[] = [],
): Promise<JsonReport> {
  const { code, out, err } = runCli(['check', '--ledger', url, '--json', ...options], { env });
  const exitCode = await code;
  const { findings, ...report } = JSON.parse(out.text()) as { exitCode: number; findings: readonly JsonFinding[] };
  expect(report.exitCode).toBe(exitCode);
  return {
    code: exitCode,
    printed: out.text() + err.text(),
    finding: (name) => findings.find(({ id }) => id === name),
    ids: findings.map(({ id }) => id),
  };
}

// timeouts do not depend on how busy the machine is, and are soon over
beforeEach(() => {
  useProcessTime(4);
});

const closing: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** Calls a function after the test. */
export const afterTest = (close: () => unknown): void => {
  closing.push(close);
};

/** A sandbox with generated updates that runs until the test ends. */
export async function sandboxWith(options: SandboxOptions = {}, updates = 600): Promise<Sandbox> {
  const sandbox = await startSandbox(options);
  afterTest(() => sandbox.close());
  sandbox.generate(updates);
  return sandbox;
}

/** The URL of a server that runs until the test ends and handles all requests with this function. */
export async function serveHttp(handle: Parameters<typeof httpServer>[0]): Promise<string> {
  const server = await httpServer(handle);
  afterTest(() => server.close());
  return server.url;
}

/** Has a server listen until the test ends; resolves with its URL. */
export async function listen(server: Server): Promise<string> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket.on('error', () => undefined));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  afterTest(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
}

/** A JWT with these claims. Its signature contains `s3cret` in base64url. */
export const jwt = (claims: object): string =>
  ['{"alg":"RS256"}', JSON.stringify(claims), 's3cret']
    .map((part) => Buffer.from(part).toString('base64url'))
    .join('.');

export const nowSeconds = (): number => Math.floor(Date.now() / 1_000);
