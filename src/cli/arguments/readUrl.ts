import { UsageError } from './UsageError.js';

/** The address of a ledger. What is no address is not repeated: it may be a secret in the wrong place. */
export function readUrl(text: string | undefined): string {
  if (text === undefined || text === '')
    throw new UsageError('no ledger: give --ledger URL or set CANTON_RX_LEDGER_URL');
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw new UsageError('the ledger is an http or https URL, such as http://127.0.0.1:7575');
  }
  if (url.username !== '' || url.password !== '')
    throw new UsageError('the ledger is a URL without a user or a password');
  // a path is added to it
  const { href } = url;
  if (/[@?#]/.test(href)) throw new UsageError('the ledger is a URL without a query, a hash or an @');
  return href;
}
