import ky from 'ky';
import { ConnectionError } from '../errors/ConnectionError.js';
import { fromAbortable } from './fromAbortable.js';
import type { HttpPort } from './HttpPort.js';
import { mapError } from './mapError.js';
import { pathOf } from './pathOf.js';

/**
 * The port of ky. Its own retry and timeout are off: what to ask again, and from where, only the feed knows, and ky's
 * timeout would end a long poll. Its errors carry the request with its token, so that none of them goes further.
 */
export const kyPort =
  (fetch?: typeof globalThis.fetch): HttpPort =>
  ({ method, url, headers, body }) =>
    fromAbortable(async (signal) => {
      const response = await ky(url, {
        method,
        headers: { ...headers },
        signal,
        retry: 0,
        timeout: false,
        // to another place nothing that is signed is sent, nor any header
        redirect: 'manual',
        throwHttpErrors: false,
        body: body ?? null,
        ...(fetch !== undefined && { fetch }),
      });
      return {
        status: response.status,
        headers: Object.fromEntries(response.headers),
        // what is no UTF-8 must not come out as something else
        text: new TextDecoder('utf-8', { fatal: true }).decode(await response.arrayBuffer()),
      };
    }).pipe(mapError((error) => new ConnectionError(pathOf(url), 'the connection failed', codeWithin(error))));

/** The system's code, from the innermost error that has one: fetch wraps them, and ky wraps fetch's. */
function codeWithin(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const inner = 'cause' in error ? codeWithin(error.cause) : undefined;
  return inner ?? ('code' in error && typeof error.code === 'string' ? error.code : undefined);
}
