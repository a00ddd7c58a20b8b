import { execFile, spawnSync } from 'node:child_process';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import process from 'node:process';
import { promisify } from 'node:util';
import { describe } from '@jest/globals';
import { describeWithServer } from './describeWithServer.js';

const exec = promisify(execFile);

/** A network namespace, in which programs run as on another machine. */
export interface Machine {
  /** The address of this machine for the programs of the other one. */
  readonly address: string;
  /** What runs a program there: the words before its command. */
  readonly command: readonly string[];
  /** Takes the link down: packets are lost, and no connection is closed. */
  disconnect(): Promise<void>;
  reconnect(): Promise<void>;
  /** Removes the namespace and its link. */
  remove(): Promise<void>;
}

let count = 0;

/** Creates a network namespace that is joined with that of the tests by a link. Needs root, and `ip`. */
export async function startMachine(): Promise<Machine> {
  count += 1;
  const name = `crx${process.pid}n${count}`;
  // four addresses of 198.18.0.0/15, which is for tests of networks alone (RFC 2544)
  const network = ((process.pid % 4_096) * 8 + (count % 8)) * 4;
  const addressOf = (host: number): string =>
    `198.${18 + (network >> 16)}.${(network >> 8) & 255}.${(network & 255) + host}`;
  const ip = async (...words: readonly string[]): Promise<void> => {
    await exec('ip', words);
  };
  const setLink = (state: string): Promise<void> => ip('-n', name, 'link', 'set', 'eth0', state);
  const remove = async (): Promise<void> => {
    await ip('link', 'del', name).catch(() => undefined);
    await ip('netns', 'del', name).catch(() => undefined);
  };
  try {
    await ip('netns', 'add', name);
    await ip('link', 'add', name, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name);
    await ip('addr', 'add', `${addressOf(1)}/30`, 'dev', name);
    await ip('link', 'set', name, 'up');
    await ip('-n', name, 'addr', 'add', `${addressOf(2)}/30`, 'dev', 'eth0');
    await ip('-n', name, 'link', 'set', 'lo', 'up');
    await setLink('up');
  } catch (error) {
    await remove();
    throw error;
  }
  return {
    address: addressOf(1),
    command: ['ip', 'netns', 'exec', name],
    disconnect: () => setLink('down'),
    reconnect: () => setLink('up'),
    remove,
  };
}

/** Whether this process may create network namespaces. */
const hasMachines = (): boolean => {
  const probe = `crx${process.pid}probe`;
  const isCreated = spawnSync('ip', ['netns', 'add', probe]).status === 0;
  if (isCreated) spawnSync('ip', ['netns', 'del', probe]);
  return isCreated;
};

const isRoot = process.getuid?.() === 0;

/** Whether tests with machines run: only root may create network namespaces. */
export const canUseMachines = isRoot && (process.env['CANTON_RX_SERVERS'] === 'required' || hasMachines());

/** `describe` for tests with machines. They are skipped for users other than root. */
export const describeWithMachines: typeof describe.only = isRoot
  ? describeWithServer(canUseMachines, 'iproute2, or the right to create network namespaces')
  : describe.skip;

/** Says why tests with machines do not run. */
export const noMachines = isRoot ? '`ip netns add` fails' : 'only root may create network namespaces';

/** An HTTP server that other machines reach, in front of one that serves this machine alone. */
export interface Gateway {
  readonly url: string;
  close(): Promise<void>;
}

/** Starts a gateway on an address of this machine. */
export async function httpGateway(target: string, address: string): Promise<Gateway> {
  const { host, hostname, port } = new URL(target);
  const server = createServer((incoming, response) => {
    const { method, url: path, headers } = incoming;
    const outgoing = request({ hostname, port, method, path, headers: { ...headers, host } }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
      answer.on('error', () => response.destroy());
    });
    outgoing.on('error', () => response.destroy());
    response.on('close', () => outgoing.destroy());
    incoming.pipe(outgoing);
  });
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  return {
    url: `http://${address}:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
