import ky from 'ky';
import { Observable } from 'rxjs';
import { AnswerTooLargeError } from '../errors/request.js';
import type { HttpPort } from './HttpPort.js';

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

/**
 * An Observable of what an abortable function promises; unsubscribing before it is settled aborts. Calls the function
 * per subscription.
 */
const fromAbortable = <A>(start: (signal: AbortSignal) => Promise<A>): Observable<A> =>
  new Observable<A>((subscriber) => {
    const controller = new AbortController();
    let isSettled = false;
    start(controller.signal).then(
      (value) => {
        isSettled = true;
        subscriber.next(value);
        subscriber.complete();
      },
      (error: unknown) => {
        isSettled = true;
        subscriber.error(error);
      },
    );
    return () => {
      // a fetch that has failed may reject once more when it is aborted, and nobody would handle that
      if (!isSettled) controller.abort();
    };
  });

/** How much of an answer is read, and for whom. */
interface Reading {
  readonly url: string;
  readonly maxBytes: number;
}

/**
 * The text of an answer, read as it comes and only as far as is allowed. What is no UTF-8 is an error, not another text;
 * unless it is an error anyway, whose status is what counts.
 */
async function textOf(response: Response, { url, maxBytes }: Reading): Promise<string> {
  const { headers, ok } = response;
  const body: unknown = response.body;
  const refuse = (): never => {
    throw new AnswerTooLargeError(pathOf(url), maxBytes);
  };
  if (!isStream(body)) {
    // of a fetch that knows no streams
    const text = body === null ? '' : await response.text();
    return text.length > maxBytes ? refuse() : text;
  }
  const reader = body.getReader();
  try {
    if (Number(headers.get('content-length')) > maxBytes) refuse();
    const chunks: Uint8Array[] = [];
    for (let bytes = 0; ;) {
      const { value } = await reader.read();
      // at once: piece by piece it takes Node several times as long
      if (value === undefined) return new TextDecoder('utf-8', { fatal: ok }).decode(joined(chunks, bytes));
      bytes += value.byteLength;
      if (bytes > maxBytes) refuse();
      chunks.push(value);
    }
  } catch (error) {
    // hangs up; whether that works is of no interest any more
    reader.cancel().catch(() => undefined);
    throw error;
  }
}

const isStream = (u: unknown): u is ReadableStream<Uint8Array> =>
  typeof u === 'object' && u !== null && 'getReader' in u;

function joined(chunks: readonly Uint8Array[], bytes: number): Uint8Array {
  const [first] = chunks;
  if (first !== undefined && chunks.length === 1) return first;
  const whole = new Uint8Array(bytes);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.byteLength;
  }
  return whole;
}

/** The path of a URL, for errors: neither host, nor query, nor credentials. */
export const pathOf = (url: string): string => new URL(url).pathname;
