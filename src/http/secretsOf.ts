import type { HttpRequest } from './HttpPort.js';

/** What of a body is nobody else's business: the string after each of these keys. */
const signed = /"(?:signature|preparedTransaction)":"([^"]+)"/g;

/** A short one is no secret, and may well be a word of the answer. */
const isSecret = (header: string, value: string): boolean => header !== 'content-type' && value.length >= 8;

/** What of a request must not come out again: its token, the caller's own headers, what was signed and the signatures. */
export function secretsOf({ headers, body = '' }: Pick<HttpRequest, 'headers' | 'body'>): readonly string[] {
  const { authorization = '', ...others } = headers;
  return [
    // without the name of its scheme
    authorization.split(' ').at(-1) ?? '',
    ...Object.entries(others).flatMap(([name, value]) => (isSecret(name, value) ? [value] : [])),
    ...Array.from(body.matchAll(signed), ([, secret = '']) => secret),
  ].filter(Boolean);
}
