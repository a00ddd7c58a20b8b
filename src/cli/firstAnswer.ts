import { ignoreElements, merge, type Observable, take, tap, timer } from 'rxjs';
import type { Offset } from '../codecs/scalars.js';
import { isLedgerError } from '../errors/LedgerError.js';
import { isUnauthorizedError } from '../errors/request.js';
import type { Ledger } from '../ledger/Ledger.js';
import { addressOf, type Connection } from './Connection.js';
import type { Output } from './output.js';
import type { StatusLine } from './terminal.js';
import { errorLine, messageOf } from './World.js';

/** The next step if a ledger does not answer. */
const checkAdvice = "run 'canton-rx check' with the same --ledger for the reason";

/** The next step for a failure before the first response. */
export const firstAdvice = (error: unknown): string => (isLedgerError(error) ? `→ ${checkAdvice}\n` : '');

/** The next step for a token that is refused, at whatever time; empty for any other error. */
export const tokenAdvice = (error: unknown): string => (isUnauthorizedError(error) ? firstAdvice(error) : '');

/** The message of an error. Without a token the ledger refused none: it requires one. */
export const ledgerMessage = (error: unknown, connection: Connection): string =>
  isUnauthorizedError(error) && connection.token === undefined
    ? `${addressOf(connection)} requires a token: give one with --token-file FILE or CANTON_RX_LEDGER_TOKEN`
    : messageOf(error);

/** How long a command waits in silence for its first response, in milliseconds. */
const silenceMs = 3_000;

/**
 * The ledger end, as the first response of a ledger: a feed retries while a ledger cannot be reached, but a mistyped URL
 * should fail at once. Reports to stderr if it takes long: a wrong port may accept connections and never answer.
 */
export const firstAnswer = (
  ledger: Pick<Ledger, 'ledgerEnd'>,
  connection: Connection,
  stderr: Output,
  status?: StatusLine,
): Observable<Offset> => {
  const hint$ = timer(silenceMs).pipe(
    tap(() => {
      status?.clear();
      stderr.write(errorLine(`no response from ${addressOf(connection)} yet; ${checkAdvice}`));
    }),
    ignoreElements(),
  );
  return merge(ledger.ledgerEnd(), hint$).pipe(take(1));
};
