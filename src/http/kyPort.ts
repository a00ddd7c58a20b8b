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
      const sent: RequestInit = {
        method,
        headers: { ...headers },
        signal,
        // to another place nothing that is signed is sent, nor any header
        redirect: 'manual',
        ...(body !== undefined && { body }),
      };
      const response = await ky(url, {
        method,
        retry: 0,
        timeout: false,
        throwHttpErrors: false,
        // beside ky, which copies what it is given lest it has to send it again: that costs as much as sending it
        fetch: () => (fetch === undefined ? globalThis.fetch(url, sent) : fetch(new Request(url, sent))),
      });
      return {
        status: response.status,
        headers: Object.fromEntries(response.headers),
        text: await textOf(response, { url, maxBytes: maxAnswerBytes }),
      };
    });
