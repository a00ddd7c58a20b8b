/**
 * The sender of an error response:
 *
 * - `ledger`: the ledger, with an error in its form, or the HTTP layer of the participant. Its answer is about the request.
 * - `network`: anything else, such as a gateway, a load balancer, a login page or another server. Its answer is about the way
 *   to the ledger.
 *
 * @inline
 */
export type AnsweredBy = 'ledger' | 'network';

/** An answer that is not an error of the form of the ledger's. */
interface ForeignAnswer {
  readonly status: number;
  /** The headers, with names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/**
 * Whether the HTTP layer of a participant has answered. It shows only in the body: a proxy replaces the header `server`.
 * Its answer to a wrong method is that of many servers, too.
 */
export const isOfHttpLayer = ({ status, text }: Pick<ForeignAnswer, 'status' | 'text'>): boolean =>
  (texts[status] ?? /^$./).test(text);

/** The beginnings of the bodies of a participant's HTTP layer, by status. */
const texts: Readonly<Partial<Record<number, RegExp>>> = {
  400: /^Invalid value for: /,
  // of a path that is not served, or not with this method
  404: /"ledgerApiError":/,
  405: /^Method Not Allowed\s*$/,
  413: /^EntityStreamSizeException|exceeded size limit \(\d+ bytes\)/,
  503: /^The server was not able to produce a timely response to your request/,
};

/** The product that has answered, such as `nginx`; `undefined` if its answer does not show it. */
export function productOf({ headers, text }: Omit<ForeignAnswer, 'status'>): string | undefined {
  const { server = '', via = '' } = headers;
  const names = `${server} ${via} ${text.slice(0, maxPage)}`;
  return products.find(([, pattern]) => pattern.test(names))?.[0];
}

/** The length of the part of a page that is searched, in characters. */
const maxPage = 4_000;

/** The first pattern that matches decides: a load balancer may say which server it is based on. */
const products: readonly (readonly [string, RegExp])[] = [
  ['Cloudflare', /cloudflare|\berror code: \d{3,4}\b/i],
  ['CloudFront', /cloudfront/i],
  ['AWS load balancer', /awselb/i],
  ['AWS API Gateway', /Missing Authentication Token|amazon ?api ?gateway/i],
  ['Azure Application Gateway', /Azure-Application-Gateway/i],
  ['Azure Front Door', /Azure ?Front ?Door/i],
  ['Google load balancer', /\bgoogle\b|\bgws\b|Error \d{3} \((?:Server Error|Not Found)\)!!1/i],
  ['Akamai', /akamai/i],
  ['Fastly', /fastly/i],
  ['envoy', /envoy|no healthy upstream|upstream (?:connect error|request timeout)|RBAC: access denied/i],
  ['HAProxy', /haproxy|No server is available to handle this request/i],
  ['Kong', /\bkong\b|no Route matched/i],
  ['Traefik', /traefik|\bno available server\b/i],
  ['default backend of an ingress', /default backend/i],
  ['nginx', /nginx|openresty/i],
  ['Apache', /\bapache\b/i],
  ['IIS', /Microsoft-(?:IIS|HTTPAPI)/i],
  ['Caddy', /\bcaddy\b/i],
  ['Varnish', /varnish/i],
  ['Squid', /\bsquid\b/i],
  // of its library, for any program without the path
  ['server in Go, such as Traefik', /^ *404 page not found\s*$/],
];

/** The remedy for a response of the network that a retry does not change. */
export function remedyFor(status: number): string {
  if (status < 400) return 'use the address of the redirect, or look for a login page in front of the ledger';
  return remedies[status] ?? 'look for a gateway in front of the ledger, and check the port';
}

const wrongAddress =
  'check the address: the path prefix, which ends before /v2, and that this is the port of the JSON Ledger API';

const refusing = 'a gateway refuses the request: check its rules, and the credentials that it requires';

const remedies: Readonly<Partial<Record<number, string>>> = {
  401: refusing,
  403: refusing,
  404: wrongAddress,
  405: wrongAddress,
  407: refusing,
  413: 'raise the limit of the gateway for the size of a request',
  501: wrongAddress,
};
