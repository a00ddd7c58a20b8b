import { imported } from './install.js';
import type { Peer, ReadPage } from './Peer.js';

export const official: Peer = { id: 'official', packages: ['@canton-network/core-ledger-client@1.8.0'] };

interface Client {
  readonly post: (path: string, body: object, params: object) => Promise<unknown>;
}
type ClientClass = new (options: object) => Client;

const silent = { child: () => silent, debug: () => undefined, info: () => undefined, warn: () => undefined };

/** The vendor's own client, which looks at nothing in an answer. */
export async function officialReader(url: string): Promise<ReadPage> {
  const { LedgerClient } = (await imported('official', '@canton-network/core-ledger-client')) as unknown as {
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
