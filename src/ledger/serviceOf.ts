import type { Service } from '../feed/Service.js';
import { kyPort } from '../http/kyPort.js';
import type { LedgerOptions } from './LedgerOptions.js';

/** The service that a ledger's options tell of, and of which nothing is known yet. */
export function serviceOf(options: LedgerOptions): Service {
  const { baseUrl, token, headers = {}, requestTimeoutMs = 30_000, updatesPath = 'auto' } = options;
  if (!URL.canParse(baseUrl)) throw new TypeError('baseUrl is not an absolute URL');
  return {
    link: {
      port: options.port ?? kyPort(options.fetch),
      baseUrl: baseUrl.replace(/\/+$/, ''),
      headers: Object.fromEntries(new Headers(headers)),
      token,
      requestTimeoutMs,
    },
    learned: {
      updatesPath: updatesPath === 'auto' ? '/v2/updates/flats' : updatesPath,
      maySwitch: updatesPath === 'auto',
      pageLimit: Infinity,
      longestPollMs: Infinity,
      hasLedgerEnd: true,
    },
  };
}
