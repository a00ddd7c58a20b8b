import type { IncomingHttpHeaders } from 'node:http';
import { type AllowedOrigins, isOrigin, type Settings } from '../participant/Settings.js';
import { type Answer, type Call, type Route, textAnswer } from './Call.js';

/**
 * Refuses a request that a web page without permission may have caused. It is called for each request and each upgrade,
 * because browsers send both to this machine for pages of any site.
 */
export function refuseForeign({ host = '', origin }: IncomingHttpHeaders, { cors }: Settings): Answer | undefined {
  // a page reaches this machine under its own name if its site changes the address of that name (DNS rebinding)
  if (!isThisMachine(hostnameOf(host))) {
    return textAnswer(403, 'The sandbox serves only requests to localhost, 127.0.0.1 or [::1]: see the Host header.');
  }
  if (origin === undefined || isAllowed(origin, host, cors)) return undefined;
  return textAnswer(403, `The sandbox does not serve web pages of this origin: see the option "cors" or --cors.`);
}

/** The name in a `Host` header, in lower case and without the port; `''` if the header is malformed. */
const hostnameOf = (host: string): string => /^([^:]+|\[[^\]]+\])(?::\d{1,5})?$/.exec(host)?.[1]?.toLowerCase() ?? '';

const isThisMachine = (hostname: string): boolean => ['localhost', '127.0.0.1', '[::1]'].includes(hostname);

function isAllowed(origin: string, host: string, allowed: AllowedOrigins): boolean {
  // the page came through the same proxy of a development server
  if (origin === `http://${host.toLowerCase()}`) return true;
  if (typeof allowed !== 'boolean') return allowed.includes(origin);
  return allowed && isOrigin(origin) && isThisMachine(new URL(origin).hostname);
}

/** The headers that let a page with permission read the response; none for requests that no page has sent. */
export function corsHeaders({ origin, ...headers }: IncomingHttpHeaders): Readonly<Record<string, string>> | undefined {
  return origin === undefined
    ? undefined
    : {
        'access-control-allow-origin': origin,
        'access-control-allow-methods': 'GET, POST, OPTIONS',
        'access-control-allow-headers': headers['access-control-request-headers'] ?? 'authorization, content-type',
        'access-control-max-age': '600',
        vary: 'origin',
      };
}

/**
 * Refuses a body of a web page that is not declared as JSON, or as binary where the endpoint expects that. A page can send
 * other types without a preflight, and so without the permission of the server. Programs, which send no `Origin`, may use any
 * type, as with a participant.
 */
export function refuseContentType(
  { headers, bytes, participant }: Call,
  { binary = false }: Route,
): Answer | undefined {
  if (headers.origin === undefined || bytes.length === 0 || participant.settings.anyContentType) return undefined;
  const type = headers['content-type'] ?? '';
  if ((binary ? binaryType : jsonType).test(type)) return undefined;
  const expected = binary ? 'application/octet-stream' : 'application/json';
  return textAnswer(415, `The sandbox accepts this body of a web page only with "content-type: ${expected}".`);
}

const jsonType = /^application\/(?:[\w.!#$&^+-]+\+)?json\s*(?:;|$)/i;

const binaryType = /^application\/octet-stream\s*(?:;|$)/i;
