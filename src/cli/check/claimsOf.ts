import * as t from 'io-ts';

/** What a token says of the time for which it is good, in seconds since 1970. */
export interface Claims {
  readonly exp?: number;
  readonly nbf?: number;
}

const Claims: t.Type<Claims, unknown> = t.partial({ exp: t.number, nbf: t.number });

/** The times in a JWT; `undefined` for what is none. Its signature is not checked: that is for the participant. */
export function claimsOf(token: string): Claims | undefined {
  const [, payload, signature] = token.split('.');
  if (payload === undefined || signature === undefined) return undefined;
  try {
    const decoded = Claims.decode(JSON.parse(Buffer.from(payload, 'base64url').toString()));
    return decoded._tag === 'Right' ? decoded.right : undefined;
  } catch {
    return undefined;
  }
}
