import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { jest } from '@jest/globals';
import type Provider from 'oidc-provider';
import type { Configuration } from 'oidc-provider';

/** A login service of oidc-provider on loopback. */
export interface OidcProvider {
  readonly url: string;
  readonly provider: Provider;
  readonly close: () => void;
}

/** Starts oidc-provider. Its warnings are silenced until it is closed. */
export async function startOidcProvider(configuration: Configuration): Promise<OidcProvider> {
  // about the runtime, the keys and the pages, which do not matter here
  for (const log of ['warn', 'info'] as const) jest.spyOn(console, log).mockImplementation(() => undefined);
  const { default: OidcProvider } = await import('oidc-provider');
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new OidcProvider(url, configuration);
  const handle = provider.callback();
  server.on('request', (request, response) => void handle(request, response));
  const close = (): void => {
    server.closeAllConnections();
    server.close();
    jest.restoreAllMocks();
  };
  return { url, provider, close };
}
