import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';

const types = {
  '.css': 'text/css',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
};

// the page holds keys and tokens: only its own scripts run, and requests go only to ledgers
const policy = [
  "default-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  'connect-src http: https:',
  "frame-ancestors 'none'",
  "base-uri 'self'",
].join('; ');

/**
 * Serves the built explorer, its settings (`/explorer.json`) and the controls of the sandbox from one origin. Pages of
 * other origins can neither read nor change anything.
 *
 * @returns the listening server, and its address
 */
export async function serveExplorer({ folder, settings, control, port = 0 }) {
  const server = createServer((request, response) => {
    response.setHeader('content-security-policy', policy).setHeader('x-content-type-options', 'nosniff');
    const [pathname = '/'] = (request.url ?? '/').split('?');
    if (pathname === '/explorer.json') return json(response, 200, settings);
    if (pathname.startsWith('/control/')) return answer(request, response, control, pathname.slice('/control/'.length));
    return void sendFile(response, folder, pathname);
  });
  await new Promise((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve));
  return { server, url: `http://127.0.0.1:${server.address().port}` };
}

async function sendFile(response, folder, pathname) {
  // resolved from the root, since a proxied request begins with `http://` and could leave the folder otherwise
  const path = join(folder, normalize(pathname === '/' ? '/index.html' : `/${pathname}`));
  const found = await stat(path).catch(() => undefined);
  if (found === undefined || !found.isFile()) return void response.writeHead(404).end();
  response.writeHead(200, { 'content-type': types[extname(path)] ?? 'application/octet-stream' });
  // a new build of the explorer may have deleted the file
  createReadStream(path)
    .on('error', () => response.destroy())
    .pipe(response);
}

async function answer(request, response, control, command) {
  // a page of another origin cannot send this type without a CORS preflight, which the server does not grant
  const isOurs = request.method === 'POST' && request.headers['content-type'] === 'application/json';
  if (control === undefined || !Object.hasOwn(control, command))
    return json(response, 404, { error: 'no such command' });
  if (!isOurs) return json(response, 405, { error: 'POST it as JSON' });
  try {
    let body = '';
    for await (const chunk of request) body += chunk;
    json(response, 200, (await control[command](JSON.parse(body === '' ? '{}' : body))) ?? {});
  } catch (error) {
    json(response, 400, { error: error instanceof Error ? error.message : String(error) });
  }
}

function json(response, status, value) {
  response
    .writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' })
    .end(JSON.stringify(value));
}
