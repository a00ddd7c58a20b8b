import { AnswerTooLargeError } from '../errors/AnswerTooLargeError.js';
import { pathOf } from './pathOf.js';

/** How much of an answer is read, and for whom. */
export interface Reading {
  readonly url: string;
  readonly maxBytes: number;
}

/**
 * The text of an answer, read as it comes and only as far as is allowed. What is no UTF-8 is an error, not another text;
 * unless it is an error anyway, whose status is what counts.
 */
export async function textOf(response: Response, { url, maxBytes }: Reading): Promise<string> {
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

const isStream = (u: unknown): u is ReadableStream<Uint8Array> =>
  typeof u === 'object' && u !== null && 'getReader' in u;
