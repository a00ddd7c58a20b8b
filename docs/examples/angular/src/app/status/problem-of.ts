import { isLedgerError } from 'canton-rx';
import type { Connection, ConnectionField } from '../connection/connection';

/** Why a ledger cannot be read. */
export interface Problem {
  /** What is wrong, and what to do about it. */
  readonly text: string;
  /** The name of the button for it. */
  readonly action: string;
  /** The field of the connection to which the button leads. */
  readonly field: ConnectionField;
}

/** An error in a few words, for a line of the status. */
export function nameOf(error: Error): string {
  if (isLedgerError(error, 'ConnectionError')) return 'No answer';
  if (isLedgerError(error, 'RequestTimeoutError')) return 'No answer in time';
  if (isLedgerError(error, 'ApiError')) return `Answer ${error.status}`;
  return error.name;
}

/** What the user can do about an error. */
export function problemOf(error: Error, { token, parties }: Pick<Connection, 'token' | 'parties'>): Problem {
  const isToken = isLedgerError(error, 'UnauthorizedError') || statusOf(error) === 401;
  if (isToken && token !== undefined) return ofToken('The ledger refuses this token. Enter another one.');
  if (isToken || (statusOf(error) === 403 && token === undefined))
    return ofToken('This ledger requires a token. Enter one.');
  if (isLedgerError(error, 'InvalidRequestError'))
    return ofParties('These are not names of parties. Correct them: name::fingerprint.', 'Correct the parties');
  if (statusOf(error) === 403)
    return parties === 'any'
      ? ofParties('This token may not read as any party. Name your parties.', 'Name your parties')
      : ofParties(
          'This token may not read as these parties. Name others, or enter another token.',
          'Change the parties',
        );
  return ofAddress(addressProblem(error));
}

function addressProblem(error: Error): string {
  if (isLedgerError(error, 'DecodeError'))
    return 'An answer of the ledger cannot be decoded. Update the explorer, or change the address.';
  if (isLedgerError(error, 'ApiError') && error.code === undefined)
    return error.status < 500
      ? 'This is not the address of a JSON Ledger API. Change the address.'
      : 'The ledger is not available behind this address. It is tried again until it is.';
  if (isLedgerError(error, 'ConnectionError'))
    return error.reason.includes('JSON')
      ? 'This is not the address of a JSON Ledger API. Change the address.'
      : 'Nothing answers there, or it does not allow this page to read it (CORS). It is tried again until it answers.';
  return error.message.split('\n')[0] ?? error.name;
}

const ofToken = (text: string): Problem => ({ text, action: 'Enter a token', field: 'token' });
const ofParties = (text: string, action: string): Problem => ({ text, action, field: 'parties' });
const ofAddress = (text: string): Problem => ({ text, action: 'Change the address', field: 'address' });

const statusOf = (error: Error): number | undefined => (isLedgerError(error, 'ApiError') ? error.status : undefined);
