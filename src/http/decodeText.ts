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
