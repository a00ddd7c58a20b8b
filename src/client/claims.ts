/** The times of a JWT, in seconds since the epoch. */
interface TokenTimes {
  readonly iat?: number;
  readonly exp?: number;
}

/** Reads the times of a JWT; none of another token. */
export function timesOf(token = ''): TokenTimes {
  const claims = claimsOf(token);
  return { ...numberIn(claims, 'iat'), ...numberIn(claims, 'exp') };
}

/** Reads the user of a JWT; `undefined` for another token. */
export function userOf(token = ''): string | undefined {
  const { sub } = claimsOf(token) as { readonly sub?: unknown };
  return typeof sub === 'string' ? sub : undefined;
}

/** Reads the claims of a JWT; none of another token. Does not check the signature. */
function claimsOf(token: string): object {
  const [, payload, signature] = token.split('.');
  if (payload === undefined || signature === undefined) return {};
  try {
    return Object(JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/')))) as object;
  } catch {
    return {};
  }
}

const numberIn = (claims: object, name: keyof TokenTimes): TokenTimes => {
  const value = (claims as Readonly<Record<string, unknown>>)[name];
  return typeof value === 'number' ? { [name]: value } : {};
};
