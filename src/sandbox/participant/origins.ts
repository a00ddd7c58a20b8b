/** Which web pages may send requests: none, those of this machine, or those of the given origins. */
export type AllowedOrigins = boolean | readonly string[];

/** Whether a text is the origin of a web page as browsers write it. A page without an origin has the origin `null`. */
export function isOrigin(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url !== undefined && /^https?:$/.test(url.protocol) && url.origin === text;
}

/** Throws a `TypeError` if one of the allowed origins could never match. */
export function checkOrigins(allowed: AllowedOrigins | undefined): void {
  const wrong = typeof allowed === 'object' ? allowed.find((origin) => !isOrigin(origin)) : undefined;
  if (wrong === undefined) return;
  throw new TypeError(`${JSON.stringify(wrong)} is not the origin of web pages, such as http://localhost:5173`);
}
