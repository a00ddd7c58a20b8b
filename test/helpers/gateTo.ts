import type { Socket } from 'node:net';
import { tcpProxy } from './tcpProxy.js';

/** A way to a server that can be shut, for as long as it takes to be seen. */
export interface Gate {
  /** The server's origin, by this way. */
  readonly url: string;
  /** Cuts what is open, and lets nobody through. */
  readonly shut: () => void;
  readonly open: () => void;
  readonly close: () => void;
}

export async function gateTo(server: string): Promise<Gate> {
  const clients = new Set<Socket>();
  let isShut = false;
  const { url, close } = await tcpProxy(server, (client, served) => {
    if (isShut) client.destroy();
    else clients.add(client.pipe(served).pipe(client));
  });
  return {
    url: new URL(url).origin,
    shut: () => {
      isShut = true;
      for (const client of clients) client.destroy();
      clients.clear();
    },
    open: () => {
      isShut = false;
    },
    close,
  };
}
