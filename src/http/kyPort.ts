import ky from 'ky';
import { ResponseTooLargeError } from '../errors/request.js';
import { fromAbortable, type HttpPort, pathOf } from './HttpPort.js';

interface KyPortOptions {
  readonly maxResponseBytes?: number | undefined;
  readonly fetch?: typeof globalThis.fetch | undefined;
}

/**
 * Sends requests with ky. Its own retry and timeout are off: only the feed knows what to request after a failure, and ky's
 * timeout would end a long poll.
 */
export const kyPort =
  ({ maxResponseBytes = 32 * 2 ** 20, fetch }: KyPortOptions = {}): HttpPort =>
  ({ method, url, headers, body }) =>
    fromAbortable(async (signal) => {
      const init: RequestInit = {
        method,
        headers,
        signal,
        // following a redirect would send signed bytes and headers to another host
        redirect: 'manual',
        ...(body !== undefined && { body }),
      };
      let sent: Promise<Response> | undefined;
      const send = (): Promise<Response> =>
        (sent ??= fetch === undefined ? globalThis.fetch(url, init) : fetch(new Request(url, init)));
      const response = await ky(url, {
        method,
        retry: 0,
        timeout: false,
        throwHttpErrors: false,
        // not ky's own Request: ky copies it for retries, which costs as much as sending it. It does not if a hook has responded
        hooks: { beforeRequest: [send] },
        // ky only accepts a Response of the platform from a hook
        fetch: send,
      });
      return {
        status: response.status,
        headers: Object.fromEntries(response.headers),
        text: await readText(response, { url, maxBytes: maxResponseBytes }),
      };
    });

/**
 * Reads the text of a response, up to a limit. Bytes that are not UTF-8 are an error, but not in an error response, where
 * the status is what counts.
 */
async function readText(
  response: Response,
  { url, maxBytes }: { readonly url: string; readonly maxBytes: number },
): Promise<string> {
  const { headers, ok } = response;
  const body: unknown = response.body;
  const refuse = (): never => {
    throw new ResponseTooLargeError(pathOf(url), maxBytes);
  };
  if (!isStream(body)) {
    // from a fetch without streams
    const text = body === null ? '' : await response.text();
    return text.length > maxBytes ? refuse() : text;
  }
  const reader = body.getReader();
  try {
    if (Number(headers.get('content-length')) > maxBytes) refuse();
    const chunks: Uint8Array[] = [];
    for (let bytes = 0; ;) {
      const { value } = await reader.read();
      if (value === undefined) return decodeText(chunks, ok);
      bytes += value.byteLength;
      if (bytes > maxBytes) refuse();
      chunks.push(value);
    }
  } catch (error) {
    // closes the connection; a failure to do so does not matter
    reader.cancel().catch(() => undefined);
    throw error;
  }
}

const isStream = (u: unknown): u is ReadableStream<Uint8Array> =>
  typeof u === 'object' && u !== null && 'getReader' in u;

/**
 * Decodes the chunks of a body as UTF-8. Decodes each chunk separately, which takes Node.js half as long as decoding all at
 * once, and a fraction of the time of a stream.
 *
 * @param fatal - whether bytes that are not UTF-8 are an error
 */
export function decodeText(chunks: readonly Uint8Array[], fatal: boolean): string {
  const parts = chunks.every(endsWithCharacter) ? chunks : [concatBytes(chunks)];
  // only the first bytes of a body may be a byte order mark
  return parts.map((part, index) => new TextDecoder('utf-8', { fatal, ignoreBOM: index > 0 }).decode(part)).join('');
}

/** Whether the last byte is ASCII, so that no character continues in the next chunk. */
const endsWithCharacter = (chunk: Uint8Array): boolean => (chunk.at(-1) ?? 0) < 0x80;

function concatBytes(chunks: readonly Uint8Array[]): Uint8Array {
  const result = new Uint8Array(chunks.reduce((bytes, { byteLength }) => bytes + byteLength, 0));
  let offset = 0;
  for (const chunk of chunks) {
    result.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return result;
}
