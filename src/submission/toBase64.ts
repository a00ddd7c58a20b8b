/** Bytes as standard, padded base64. A byte at a time: the arguments of one call would be too many for a large message. */
export function toBase64(bytes: Uint8Array): string {
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}
