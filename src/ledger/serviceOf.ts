import type { Service } from '../feed/Service.js';
import { Subject } from 'rxjs';
import type { LedgerEvent } from '../events/LedgerEvent.js';
import { reportTo } from '../events/Report.js';
import { checkPositive } from '../http/checkPositive.js';
import { kyPort } from '../http/kyPort.js';
import { webSocketPort } from '../http/webSocketPort.js';
import { retryPolicy } from '../http/RetryPolicy.js';
import type { LedgerOptions } from './LedgerOptions.js';

/** The service that a ledger's options tell of, and of which nothing is known yet. */
export function serviceOf(options: LedgerOptions): Service {
  const { baseUrl, token, headers = {}, requestTimeoutMs = 30_000, updatesPath = 'auto' } = options;
  checkPositive({ requestTimeoutMs, maxAnswerBytes: options.maxAnswerBytes ?? 1 });
  retryPolicy(options.retry);
  const events = new Subject<LedgerEvent>();
  return {
    link: {
      port: options.port ?? kyPort(options),
      socketPort: options.webSocket ?? webSocketPort(),
      baseUrl: addressOf(baseUrl),
      headers: headersOf(headers),
      token,
      requestTimeoutMs,
      report: reportTo(events),
    },
    events,
    feeds: 0,
    learned: {
      updatesPath: updatesPath === 'auto' ? '/v2/updates/flats' : updatesPath,
      maySwitch: updatesPath === 'auto',
      pageLimit: Infinity,
      longestPollMs: Infinity,
      longestRange: Infinity,
      endUntoldAt: -Infinity,
      socketEndedAt: 0,
      noSocketForMs: 0,
      socketFailures: 0,
    },
  };
}

function addressOf(baseUrl: string): string {
  // no credentials, query or hash: a path is added to it, and errors may show it
  if (!/^https?:\/\/[^@?#]+$/.test(baseUrl) || !URL.canParse(baseUrl))
    throw new TypeError('baseUrl is no plain http(s) URL');
  return baseUrl.replace(/\/+$/, '');
}

function headersOf(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  try {
    return Object.fromEntries(new Headers(headers));
  } catch {
    // the platform's own words would quote the value
    throw new TypeError('headers cannot be sent');
  }
}
