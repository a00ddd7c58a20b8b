import type { IncomingMessage } from 'node:http';

interface Address {
  readonly path: string;
  readonly query: URLSearchParams;
}

/** What a request is for. */
export function addressOf({ url = '/' }: IncomingMessage): Address {
  const [path = '/', search] = url.split('?', 2);
  return { path, query: new URLSearchParams(search) };
}
