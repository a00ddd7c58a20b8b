import type { HttpRequest } from './HttpPort.js';

/** What of a body is nobody else's business: the string after each of these keys. */
const signed = /"(?:signature|preparedTransaction)":"([^"]+)"/g;

/** A short one is no secret, and may well be a word of the answer. */
const isSecret = (header: string, value: string): boolean => header !== 'content-type' && value.length >= 8;

/** An answer without the secrets of its request: a service, or a proxy that shows what it got, may send them back. */
export function withoutSecrets(text: string, { headers, body = '' }: HttpRequest): string {
  const { authorization = '', ...others } = headers;
  const secrets = [
    authorization.replace(/^Bearer /, ''),
    ...Object.entries(others).flatMap(([name, value]) => (isSecret(name, value) ? [value] : [])),
    ...Array.from(body.matchAll(signed), ([, secret = '']) => secret),
  ];
  return secrets.filter(Boolean).reduce((rest, secret) => rest.replaceAll(secret, '…'), text);
}
