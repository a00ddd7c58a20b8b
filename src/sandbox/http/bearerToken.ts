import { Refusal } from '../errors/Refusal.js';

/** The bearer token of an Authorization header. */
export function bearerToken(header: string | undefined): string | undefined {
  const [, token] = /^Bearer(?:\s+(.*))?$/i.exec(header ?? '') ?? [];
  if (token === '' || (token === undefined && /^Bearer\s*$/i.test(header ?? ''))) {
    throw new Refusal(400, 'Invalid value for: header Authorization (missing token)');
  }
  return token;
}
