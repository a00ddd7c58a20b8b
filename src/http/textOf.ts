import { AnswerTooLargeError } from '../errors/AnswerTooLargeError.js';

/** How much of an answer is read, and for whom. */
export interface Reading {
  readonly path: string;
  readonly maxBytes: number;
}

/** The text of an answer, read as it comes and only as far as is allowed. What is no UTF-8 is an error, not another text. */
export async function textOf({ headers, body }: Response, { path, maxBytes }: Reading): Promise<string> {
  const tooLarge = new AnswerTooLargeError(path, maxBytes);
  if (Number(headers.get('content-length')) > maxBytes) throw tooLarge;
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const reader = body?.getReader();
  let text = '';
  let bytes = 0;
  for (;;) {
    const { value } = (await reader?.read()) ?? {};
    if (value === undefined) return text + decoder.decode();
    bytes += value.byteLength;
    if (bytes > maxBytes) throw tooLarge;
    text += decoder.decode(value, { stream: true });
  }
}
