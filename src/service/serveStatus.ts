import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Observable } from 'rxjs';
import type { Metrics } from './Metrics.js';
import type { ServiceStatus } from './ServiceStatus.js';

/** The pages of a service. */
interface Pages {
  /** The present status. */
  readonly status: () => ServiceStatus;
  readonly metrics: Metrics;
}

/** Listens while it is subscribed to, and emits the address once. Fails if it cannot listen. */
export const serveStatus = (port: number, host: string, pages: Pages): Observable<string> =>
  new Observable((subscriber) => {
    const server = createServer((request, response) => {
      answer(request, response, pages);
    });
    server.on('error', (error) => {
      subscriber.error(error);
    });
    server.listen(port, host, () => {
      subscriber.next(urlOf(server));
    });
    return () => {
      server.close();
      // a prober keeps its connection
      server.closeAllConnections();
    };
  });

function urlOf(server: Server): string {
  const { address, port, family } = server.address() as AddressInfo;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}

function answer({ method, url = '' }: IncomingMessage, response: ServerResponse, pages: Pages): void {
  const page = findPage(url.split('?', 1)[0] ?? '', pages);
  if (page === undefined) {
    response.writeHead(404, { 'content-type': 'text/plain' }).end('one of /livez, /readyz, /status and /metrics\n');
    return;
  }
  if (method !== 'GET' && method !== 'HEAD') {
    response.writeHead(405, { allow: 'GET, HEAD' }).end();
    return;
  }
  const { status = 200, type = 'application/json', text } = page;
  response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' }).end(text);
}

interface Page {
  readonly status?: number;
  readonly type?: string;
  readonly text: string;
}

function findPage(path: string, { status, metrics }: Pages): Page | undefined {
  switch (path) {
    // a restart helps only a process that does not answer
    case '/livez':
      return { type: 'text/plain', text: 'ok\n' };
    case '/readyz': {
      const present = status();
      return { status: present.isReady ? 200 : 503, text: JSON.stringify(readiness(present)) };
    }
    case '/status':
      return { text: JSON.stringify(status()) };
    case '/metrics':
      return { type: 'text/plain; version=0.0.4; charset=utf-8', text: metrics.write(status()) };
    default:
      return undefined;
  }
}

/** The parts that are not ready, and why, which the log of a prober shows. */
const readiness = ({ isReady, reason, processors, rules, outboxes }: ServiceStatus) => ({
  isReady,
  reason,
  waitsFor: [
    ...processors.map((part, index) => ({ name: `processor ${part.processor ?? index + 1}`, ...part })),
    ...rules.map((part, index) => ({ name: `rule ${part.rule ?? index + 1}`, ...part })),
    ...outboxes.map((part, index) => ({ name: `outbox ${part.outbox ?? index + 1}`, ...part })),
  ]
    .filter((part) => !part.isReady)
    .map(({ name, role, state, notReady, error }) => ({ name, role, state, notReady, error })),
});
