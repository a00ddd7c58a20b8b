import ky from 'ky';
import { ConnectionError } from '../errors/ConnectionError.js';
import { isAnswerTooLargeError } from '../errors/AnswerTooLargeError.js';
import { fromAbortable } from './fromAbortable.js';
import type { HttpPort } from './HttpPort.js';
import { mapError } from './mapError.js';
import { pathOf } from './pathOf.js';
import { textOf } from './textOf.js';

/** What the port may be told. */
export interface KyPortOptions {
  readonly maxAnswerBytes?: number | undefined;
  readonly fetch?: typeof globalThis.fetch | undefined;
}

/**
 * The port of ky. Its own retry and timeout are off: what to ask again, and from where, only the feed knows, and ky's
 * timeout would end a long poll. Its errors carry the request with its token, so that none of them goes further.
 */
export const kyPort =
  ({ maxAnswerBytes: maxBytes = 32 * 2 ** 20, fetch }: KyPortOptions = {}): HttpPort =>
  ({ method, url, headers, body }) => {
    const path = pathOf(url);
    return fromAbortable(async (signal) => {
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
        text: await textOf(response, { path, maxBytes }),
      };
    }).pipe(
      mapError((error) =>
        isAnswerTooLargeError(error) ? error : new ConnectionError(path, 'the connection failed', codeWithin(error)),
      ),
    );
  };

/** The system's code, from the innermost error that has one: fetch wraps them, and ky wraps fetch's. */
function codeWithin(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const inner = 'cause' in error ? codeWithin(error.cause) : undefined;
  return inner ?? ('code' in error && isCode(error.code) ? error.code : undefined);
}

/** A name, and not whatever a `fetch` of the caller's may put there. */
const isCode = (u: unknown): u is string => typeof u === 'string' && /^[A-Z][A-Z0-9_]{1,40}$/.test(u);
