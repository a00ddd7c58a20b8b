import ky from 'ky';
import { fromAbortable } from './fromAbortable.js';
import type { HttpPort } from './HttpPort.js';
import { textOf } from './textOf.js';

/** What the port may be told. */
export interface KyPortOptions {
  readonly maxAnswerBytes?: number | undefined;
  readonly fetch?: typeof globalThis.fetch | undefined;
}

/**
 * The port of ky. Its own retry and timeout are off: what to ask again, and from where, only the feed knows, and ky's
 * timeout would end a long poll.
 */
export const kyPort =
  ({ maxAnswerBytes = 32 * 2 ** 20, fetch }: KyPortOptions = {}): HttpPort =>
  ({ method, url, headers, body }) =>
    fromAbortable(async (signal) => {
      const response = await ky(url, {
        method,
        headers: { ...headers },
        retry: 0,
        timeout: false,
        // to another place nothing that is signed is sent, nor any header
        redirect: 'manual',
        throwHttpErrors: false,
        // ky copies a request, lest it has to send it again: with its body and its signal that costs as much as sending it
        fetch: (request, init) => {
          const whole = { ...init, signal, ...(body !== undefined && { body }) };
          return fetch === undefined ? globalThis.fetch(request, whole) : fetch(new Request(request, whole));
        },
      });
      return {
        status: response.status,
        headers: Object.fromEntries(response.headers),
        text: await textOf(response, { url, maxBytes: maxAnswerBytes }),
      };
    });
