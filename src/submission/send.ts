import { catchError, concat, first, map, merge, type Observable, of, tap, timer } from 'rxjs';
import { fromBase64, toHex } from '../codecs/internal/field.js';
import type { Base64 } from '../codecs/scalars.js';
import { ExecuteResponse, type SubmittedTransaction, type Transaction } from '../codecs/Transaction.js';
import { ApiError } from '../errors/ApiError.js';
import { DecodeError } from '../errors/feed.js';
import { isLedgerError } from '../errors/LedgerError.js';
import { verdict } from '../errors/verdict.js';
import { ConnectionError } from '../errors/request.js';
import type { Submission } from '../errors/submission.js';
import { ledgerEnd } from '../feed/ledgerEnd.js';
import type { Client } from '../client/Client.js';
import { type Call, decodeWith, exchange } from '../client/exchange.js';
import { monotonicNow } from '../http/clock.js';
import { isUnsent } from './outcome.js';
import type { Run } from './Run.js';

/**
 * Returns a function that returns a request as it is now, because its caller may change it before it is sent. One that is not
 * valid now is validated again whenever it is needed, and throws then.
 */
export function keepRequest<A>(validate: () => A): () => A {
  try {
    const kept = validate();
    return () => kept;
  } catch {
    return validate;
  }
}

/**
 * Sends an attempt. Fails as a connection that was never established if another server answers at a wrong address. A body
 * of a size that was refused before is not sent.
 */
export function sendAttempt(
  { client, report, change }: Pick<Run, 'client' | 'report' | 'change'>,
  { submissionId, attempts, transactionHash }: Submission,
  request: Required<Pick<Call, 'path' | 'makeBody' | 'checkToken'>>,
  timeoutMs: number,
): Observable<SubmittedTransaction> {
  const bodySizes = client.learned.of(BodySizes).at(client.address);
  const { path } = request;
  const decode = decodeWith(path, ExecuteResponse);
  const read = (json: unknown): SubmittedTransaction => {
    const transaction = decode(json);
    const { commandId = '' } = transaction;
    // a gateway may mix up the answers to several submissions
    if (commandId !== '' && (change.commandId ?? commandId) !== commandId)
      throw new DecodeError(path, [{ path: 'transaction.commandId', expected: 'that of the submission' }]);
    if (hasHash(transaction, transactionHash) === false)
      throw new DecodeError(path, [
        { path: 'transaction.externalTransactionHash', expected: 'that of the submission' },
      ]);
    return transaction;
  };
  report(() => ({ _tag: 'SubmissionSent', submissionId, attempt: attempts }));
  // 0 for a body that is not sent
  let size = 0;
  const checkBody = (json: string): void => {
    const bytes = new TextEncoder().encode(json).length;
    const text = bodySizes.problemOf(bytes);
    if (text !== undefined) throw new ApiError({ path, status: 413, answeredBy: 'ledger', text, host: client.host });
    size = bytes;
  };
  const call: Call = { method: 'POST', ...request, checkBody, isSubmission: true, timeoutMs };
  return exchange(client, call, read).pipe(
    tap({
      next: () => {
        bodySizes.accept(size);
      },
      error: (error: unknown) => {
        if (!isLedgerError(error, 'ApiError')) return;
        if (error.status === 413) bodySizes.refuse(size);
        else if (error.code !== undefined) bodySizes.accept(size);
      },
    }),
    catchError((error: unknown) => {
      if (!isOfOtherServer(error)) throw error;
      return confirmAddress(client, error);
    }),
  );
}

/** Whether another server has answered in place of the participant, which has not answered so far. */
const isOfOtherServer = (error: unknown): error is ApiError | ConnectionError =>
  isLedgerError(error, 'ApiError')
    ? error.answeredBy === 'network' && error.answeredBefore === undefined && verdict(error) === 'stop'
    : isLedgerError(error, 'ConnectionError') && error.isPermanent && !isUnsent(error);

/** How long to wait for the answers to other requests, in milliseconds. */
const confirmTimeoutMs = 5_000;

/**
 * Reads after the answer of another server to an attempt. If the answer is the same, the address is wrong, so that nothing was
 * sent to a participant. Otherwise, a gateway may have replaced the answer to this attempt only.
 */
function confirmAddress(client: Client, error: ApiError | ConnectionError): Observable<never> {
  const { path, code, host } = error;
  // the ledger may answer with the same status
  const isSame = (answer: unknown): boolean => isOfOtherServer(answer) && answerIn(answer) === answerIn(error);
  // servers of pages and redirects answer a GET otherwise than a POST
  const reads = [ledgerEnd(client), readByPost(client)];
  const answers = reads.map((read$) => read$.pipe(catchError((answer: unknown) => [answer])));
  // with two other answers, there is nothing to wait for
  return merge(concat(...answers, of(undefined)), timer(confirmTimeoutMs)).pipe(
    first((answer) => isSame(answer) || !isOfOtherServer(answer)),
    map((answer) => {
      if (isSame(answer)) throw new ConnectionError(path, reasonOf(error), { code, host, isPermanent: true });
      throw isLedgerError(error, 'ApiError') ? error : new ConnectionError(path, error.reason, { code, host });
    }),
  );
}

const readPath = '/v2/updates/update-by-offset';

/** A request that reads, by the method of an attempt. */
const readByPost = (client: Client): Observable<unknown> =>
  exchange(client, { method: 'POST', path: readPath, body: { offset: 1, updateFormat: {} } }, (json) => json);

/** The first line of a message, and what helps. */
function reasonOf({ message }: Error): string {
  const [fact = '', ...details] = message.split('\n');
  const next = details.find((detail) => /^(Next|Hint): /.test(detail));
  return [fact.replace(/\.$/, ''), ...(next === undefined ? [] : [next.slice('Next: '.length)])].join('; ');
}

const answerIn = (error: ApiError | ConnectionError): string =>
  isLedgerError(error, 'ApiError') ? String(error.status) : `${error.reason} ${error.code}`;

/** A smaller body is not refused because of its size, in bytes: a gateway that says so is broken. */
const minLimit = 65_536;

/** After this time, a refused size is tried again, in milliseconds: an operator may have raised the limit. */
const rememberMs = 600_000;

/** What a participant, or a gateway in front of it, shows of the sizes that it accepts, in bytes. */
class SizesAtAddress {
  /** The largest size that was accepted. */
  #accepted = 0;
  /** The smallest size that was refused, and when. */
  #refused: { readonly size: number; readonly at: number } | undefined;

  /** Records that a body was accepted. If a smaller one was refused, that limit is no more. */
  accept(size: number): void {
    this.#accepted = Math.max(this.#accepted, size);
    if (this.#refused !== undefined && this.#refused.size <= size) this.#refused = undefined;
  }

  /** Records that a body was refused because of its size. */
  refuse(size: number): void {
    if (size < minLimit) return;
    const at = monotonicNow();
    this.#refused = { size: Math.min(size, this.#limit(at)), at };
    if (this.#accepted >= size) this.#accepted = 0;
  }

  /** Why a body need not be sent; `undefined` if it may be accepted. */
  problemOf(size: number): string | undefined {
    const limit = this.#limit(monotonicNow());
    if (size < limit) return undefined;
    const accepted = this.#accepted === 0 ? '' : `, and the largest that was accepted ${this.#accepted}`;
    return `not sent, because it is too large: it has ${size} bytes; a request of ${limit} bytes was refused${accepted}`;
  }

  #limit(now: number): number {
    return this.#refused !== undefined && now - this.#refused.at < rememberMs ? this.#refused.size : Infinity;
  }
}

/** The sizes of submissions, by address: another one may accept others. */
class BodySizes {
  readonly #byAddress = new Map<string | undefined, SizesAtAddress>();

  at(address: string | undefined): SizesAtAddress {
    const sizes = this.#byAddress.get(address) ?? new SizesAtAddress();
    this.#byAddress.set(address, sizes);
    return sizes;
  }
}

/**
 * Whether a transaction is that of the signed bytes with a hash. Returns `undefined` if the hash is not known, or if the transaction
 * does not show its own.
 */
export function hasHash(
  { externalTransactionHash = '' }: Pick<Transaction, 'externalTransactionHash'>,
  transactionHash: Base64 | undefined,
): boolean | undefined {
  if (transactionHash === undefined || externalTransactionHash === '') return undefined;
  return externalTransactionHash === toHex(fromBase64(transactionHash));
}
