import type { IncomingHttpHeaders } from 'node:http';

/** What lets pages of any origin call. */
export function corsHeaders(headers: IncomingHttpHeaders): Readonly<Record<string, string>> {
  return {
    'access-control-allow-origin': headers.origin ?? '*',
    'access-control-allow-methods': 'GET, POST, OPTIONS',
    'access-control-allow-headers': headers['access-control-request-headers'] ?? 'authorization, content-type',
    'access-control-max-age': '600',
    vary: 'origin',
  };
}
