import type { Link } from './Link.js';

/** The headers of a request over a link: the caller's own come last. */
export const headersOf = (link: Link, token: string | undefined): Readonly<Record<string, string>> => ({
  ...(token !== undefined && { authorization: `Bearer ${token}` }),
  ...link.headers,
});
