import type { IncomingMessage, Server } from 'node:http';

/**
 * Has a request served as if it had not asked for an upgrade, which is what HTTP asks of a server that does not offer
 * it. Clients that would like HTTP/2 ask on each request.
 */
export function putBack(server: Server, request: IncomingMessage, head: Buffer): void {
  const { method = 'GET', url = '/', httpVersion, rawHeaders, socket } = request;
  let lines = `${method} ${url} HTTP/${httpVersion}\r\n`;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const [name = '', value = ''] = rawHeaders.slice(index);
    if (name.toLowerCase() !== 'upgrade') lines += `${name}: ${value}\r\n`;
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines}\r\n`, 'latin1'), head]));
  server.emit('connection', socket);
}
