import type { Attributes } from '@opentelemetry/api';

/** By which one ledger is told from another: the server at which it is. */
export function serverOf(baseUrl: string): Attributes {
  const { hostname, port, protocol } = new URL(baseUrl);
  const usual = protocol === 'https:' ? 443 : 80;
  // IPv6 without the brackets of a URL
  return { 'server.address': hostname.replace(/^\[|\]$/g, ''), 'server.port': port === '' ? usual : Number(port) };
}
