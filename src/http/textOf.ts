import { AnswerTooLargeError } from '../errors/AnswerTooLargeError.js';

/** How much of an answer is read, and for whom. */
export interface Reading {
  readonly path: string;
  readonly maxBytes: number;
}

/** The text of an answer, read as it comes and only as far as is allowed. What is no UTF-8 is an error, not another text. */
export async function textOf({ headers, body }: Response, { path, maxBytes }: Reading): Promise<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const reader = body?.getReader();
  const announced = Number(headers.get('content-length'));
  let text = '';
  for (let bytes = announced > maxBytes ? announced : 0; ;) {
    if (bytes > maxBytes) {
      // hangs up; whether that works is of no interest any more
      reader?.cancel().catch(() => undefined);
      throw new AnswerTooLargeError(path, maxBytes);
    }
    const { value } = (await reader?.read()) ?? {};
    if (value === undefined) return text + decoder.decode();
    bytes += value.byteLength;
    text += decoder.decode(value, { stream: true });
  }
}
