import type { IncomingHttpHeaders } from 'node:http';

const prefix = 'jwt.token.';

/** The token among the subprotocols, where participants find it: in the first one alone. */
export function protocolToken({ 'sec-websocket-protocol': protocols = '' }: IncomingHttpHeaders): string | undefined {
  const [first = ''] = protocols.split(',');
  return first.startsWith(prefix) ? first.slice(prefix.length) : undefined;
}
