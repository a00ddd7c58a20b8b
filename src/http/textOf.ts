import { AnswerTooLargeError } from '../errors/AnswerTooLargeError.js';

/** How much of an answer is read, and for whom. */
export interface Reading {
  readonly path: string;
  readonly maxBytes: number;
}

/**
 * The text of an answer, read as it comes and only as far as is allowed. What is no UTF-8 is an error, not another text;
 * unless it is an error anyway, whose status is what counts.
 */
export async function textOf(response: Response, { path, maxBytes }: Reading): Promise<string> {
  const { headers, ok } = response;
  const body: unknown = response.body;
  const tooLarge = new AnswerTooLargeError(path, maxBytes);
  const announced = Number(headers.get('content-length'));
  if (!isStream(body)) {
    // of a fetch that knows no streams
    const text = body === null ? '' : await response.text();
    if (text.length > maxBytes) throw tooLarge;
    return text;
  }
  const reader = body.getReader();
  const decoder = new TextDecoder('utf-8', { fatal: ok });
  try {
    if (announced > maxBytes) throw tooLarge;
    let text = '';
    for (let bytes = 0; ;) {
      const { value } = await reader.read();
      if (value === undefined) return text + decoder.decode();
      bytes += value.byteLength;
      if (bytes > maxBytes) throw tooLarge;
      text += decoder.decode(value, { stream: true });
    }
  } catch (error) {
    // hangs up; whether that works is of no interest any more
    reader.cancel().catch(() => undefined);
    throw error;
  }
}

const isStream = (u: unknown): u is ReadableStream<Uint8Array> =>
  typeof u === 'object' && u !== null && 'getReader' in u;
