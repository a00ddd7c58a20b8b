import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { transformSync } from 'esbuild';
import { root } from '../package/project.js';

const guide = readFileSync(join(root, 'docs', 'each-user.md'), 'utf8');

/** The code of the guide, from one text to the end of another one. */
function code(from: string, to: string): string {
  const begin = guide.indexOf(from);
  const end = guide.indexOf(to, begin);
  if (begin < 0 || end < 0) throw new Error(`the guide has no ${from}`);
  return transformSync(guide.slice(begin, end + to.length), { loader: 'ts' }).code;
}

const imports = `
  import { Readable } from 'node:stream';
  import { pipeline } from 'node:stream/promises';
  import { serverSentEventsHeaders, serverSentEventsResponse, toServerSentEvents } from 'canton-rx/sse';
  import { viewOf } from './users.mjs';`;

const answer = `
  import { serverSentEventsResponse } from 'canton-rx/sse';
  import { viewOf } from './users.mjs';
  const answer = (request) =>
    serverSentEventsResponse(viewOf(request).changes$, { lastEventId: request.headers.get('last-event-id') });`;

/** Programs with the code of the guide. Each prints the port at which it listens on loopback. */
export const serverPrograms = (): Readonly<Record<string, string>> => ({
  plain: `${imports}
    import { createServer } from 'node:http';
    const server = createServer((request, response) => {
      const view = viewOf(request);
      ${code('response.writeHead(200, serverSentEventsHeaders)', '.catch(() => undefined);')}
    }).listen(0, '127.0.0.1', () => console.log(server.address().port));`,
  express: `${imports}
    import express from 'express';
    const app = express();
    ${code('// Express\n', '\n});\n')}
    const server = app.listen(0, '127.0.0.1', () => console.log(server.address().port));`,
  fastify: `${imports}
    import fastify from 'fastify';
    const app = fastify();
    ${code('// Fastify\n', '\n);\n')}
    await app.listen({ port: 0, host: '127.0.0.1' });
    console.log(app.server.address().port);`,
  hono: `${imports}
    import { serve } from '@hono/node-server';
    import { Hono } from 'hono';
    const app = new Hono();
    ${code('// Hono\n', '\n);\n')}
    serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => console.log(port));`,
  // the route handler is called with a request of the standard, as Next.js does
  next: `${imports}
    import { serve } from '@hono/node-server';
    ${code('export async function GET', '\n}\n')}
    serve({ fetch: GET, port: 0, hostname: '127.0.0.1' }, ({ port }) => console.log(port));`,
  bun: `${answer}
    const { port } = Bun.serve({ fetch: answer, port: 0, hostname: '127.0.0.1' });
    console.log(port);`,
  deno: `${answer}
    Deno.serve({ port: 0, hostname: '127.0.0.1', onListen: ({ port }) => console.log(port) }, answer);`,
  workerd: `
    import { serverSentEventsResponse } from 'canton-rx/sse';
    import { fromEvent } from 'rxjs';
    import { viewOf } from './users.mjs';
    ${code('export class Contracts', '\n};\n')}`,
});
