import { requestError } from '../errors.js';
import { sha256 } from '../wire/values.js';
import { readBase64 } from './decode.js';

/** Returns the checksum of everything that must stay the same while a token is valid. */
export function checksumOf(...parts: readonly unknown[]): string {
  return sha256(JSON.stringify(parts)).slice(0, 8);
}

export function encodeToken(content: readonly unknown[]): string {
  return Buffer.from(JSON.stringify(content)).toString('base64');
}

/**
 * Decodes a token. An empty token is a token without content, which differs from an absent token.
 *
 * @param field - the field of the request
 * @param name - the name of the token and of its request in the participant's errors
 */
export function decodeToken(token: string, field: string, name: string): readonly unknown[] {
  const bytes = readBase64(token, field);
  try {
    const content: unknown = bytes.length === 0 ? [] : JSON.parse(bytes.toString());
    if (Array.isArray(content)) return content;
  } catch {
    // the same error as for other bytes that are not a token
  }
  const cause = `The submitted request has a field with invalid value: Invalid field ${field}: `;
  throw requestError('INVALID_FIELD', `${cause}Invalid ${name}`);
}
