import type { Attributes } from '@opentelemetry/api';

/** By which one ledger is told from another: the server at which it is. */
export function serverOf(baseUrl: string): Attributes {
  const { hostname, port, protocol } = new URL(baseUrl);
  const usual = protocol === 'https:' ? 443 : 80;
  return { 'server.address': hostname, 'server.port': port === '' ? usual : Number(port) };
}
