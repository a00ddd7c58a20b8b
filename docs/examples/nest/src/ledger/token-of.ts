import { readFile } from 'node:fs/promises';
import type { Token } from 'canton-rx';

/** The source of the bearer token. */
export interface TokenSource {
  readonly file: string | undefined;
  readonly token: string | undefined;
}

/**
 * Provides the token of each request. Tokens expire after a few minutes, so a service must not keep one. A sidecar or a
 * mounted secret renews the file; a request to an identity provider is another option.
 */
export function tokenOf({ file, token }: TokenSource): Token | undefined {
  if (file === undefined) return token;
  return async () => (await readFile(file, 'utf8')).trim();
}
