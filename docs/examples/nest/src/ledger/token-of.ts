import { readFile } from 'node:fs/promises';
import type { Token } from 'canton-rx';

/** Where the bearer token comes from. */
export interface TokenSource {
  readonly file: string | undefined;
  readonly token: string | undefined;
}

/**
 * The token for each request: participants take tokens of a few minutes only, so that a service must not keep one. A
 * file is what a sidecar or a mounted secret renews; a call to an identity provider would stand here just as well.
 */
export function tokenOf({ file, token }: TokenSource): Token | undefined {
  if (file === undefined) return token;
  return async () => (await readFile(file, 'utf8')).trim();
}
