import type { ApiError } from '../errors/ApiError.js';
import type { LedgerError } from '../errors/LedgerError.js';
import type { ConnectionError } from '../errors/request.js';

/**
 * What the failure of one try says of it: that the change has been committed; that this try was refused, for good, for now,
 * or because it is out of its time bounds; that it never reached the service; that it was refused in a way that says
 * nothing of an earlier try; or nothing at all.
 */
export type Outcome = 'committed' | 'rejected' | 'busy' | 'expired' | 'notSent' | 'unheard' | 'unknown';

/** The outcome of a try that failed: by the ledger's code, its definite answer and its category; else by how far the request got. */
export function outcomeOf(error: LedgerError): Outcome {
  switch (error._tag) {
    case 'TokenError':
      return 'notSent';
    case 'ConnectionError':
      return ofConnection(error);
    case 'UnauthorizedError':
      return 'unheard';
    case 'ApiError':
      return ofCode(error) ?? ofCategory(error) ?? ofStatus(error);
    default:
      return 'unknown';
  }
}

/**
 * No connection, so that nothing went out: refused, no such host, no trust in it. Not that there is no way to it, which may
 * be told of a connection that stood as well.
 */
const noConnection =
  /^(ECONNREFUSED|ENOTFOUND|EAI_\w+|UND_ERR_CONNECT_TIMEOUT|CERT_\w+|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_\w+|ERR_TLS_CERT_\w+)$/;

const ofConnection = ({ code = '' }: ConnectionError): Outcome => (noConnection.test(code) ? 'notSent' : 'unknown');

/** Codes whose category says something else, or not enough. */
const codes: Readonly<Record<string, Outcome>> = {
  DUPLICATE_COMMAND: 'committed',
  // another try of the same change is on its way
  SUBMISSION_ALREADY_IN_FLIGHT: 'unknown',
  // the token of a request that was waiting
  ACCESS_TOKEN_EXPIRED: 'unknown',
  STALE_STREAM_AUTHORIZATION: 'unknown',
  LOCAL_VERDICT_LEDGER_TIME_OUT_OF_BOUND: 'expired',
  LOCAL_VERDICT_PREPARATION_TIME_OUT_OF_BOUND: 'expired',
  LOCAL_VERDICT_MAX_RECORD_TIME_EXCEEDED: 'expired',
  LEDGER_TIME_OUTSIDE_BOUNDS: 'expired',
};

const ofCode = ({ code }: ApiError): Outcome | undefined =>
  code !== undefined && Object.hasOwn(codes, code) ? codes[code] : undefined;

/** Back-pressure, before anything is done; and verdicts, after which nothing is. */
const certain =
  /BACKPRESSURE|OVERLOADED|MAXIMUM_NUMBER_OF_STREAMS|MEMORY_OVER_LIMIT|^LOCAL_VERDICT_|^MEDIATOR_SAYS_|^NOT_SEQUENCED_/;

function ofCategory({ errorCategory = 0, code = '', definiteAnswer }: ApiError): Outcome | undefined {
  switch (errorCategory) {
    // unavailable, contention, deadline: it can be tried again, and only some say that nothing was done
    case 1:
    case 2:
    case 3:
      return definiteAnswer === true || (errorCategory === 2 && certain.test(code)) ? 'busy' : 'unknown';
    case 4:
      return definiteAnswer === true ? 'unheard' : 'unknown';
    case 6:
    case 7:
      return 'unheard';
    case 5:
    case 8:
      return 'rejected';
    // because of the state in which this try found the participant, perhaps before it looked for an earlier one
    case 9:
    case 10:
    case 11:
    case 12:
    case 14:
      return certain.test(code) ? 'rejected' : 'unheard';
    default:
      return undefined;
  }
}

/** Of these nobody knows how far the request got. */
const openStatuses = [408, 409, 425, 429, 499];

function ofStatus({ status }: ApiError): Outcome {
  if ((status >= 500 && status !== 501) || openStatuses.includes(status)) return 'unknown';
  // a path that is gone for a moment, say, or a reason that the ledger keeps to itself
  return 'unheard';
}
