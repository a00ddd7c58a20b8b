import { concatMap, defer, endWith, from, ignoreElements, map, type Observable, of, reduce, tap, toArray } from 'rxjs';
import type { ExecuteRequest, PartySignatures, SinglePartySignatures } from '../codecs/ExecuteRequest.js';
import { PreparedSubmission } from '../codecs/PreparedSubmission.js';
import { PrepareRequest } from '../codecs/PrepareRequest.js';
import type { Problem } from '../codecs/Problem.js';
import type { Transaction } from '../codecs/Transaction.js';
import { InvalidRequestError } from '../errors/request.js';
import { isOutcomeUnknownError, VerificationError } from '../errors/submission.js';
import type { Service } from '../feed/Service.js';
import { validateRequest, decodeWith, exchange } from '../http/exchange.js';
import type { Link } from '../http/Link.js';
import { retryPolicy, type RetryPolicy, retryTransient } from '../http/retry.js';
import { tellFailure } from './attempt.js';
import { executor } from './execute.js';
import { randomUuid } from './Sending.js';
import type { Signer, Verifier } from './Signer.js';
import { type SubmitOptions, withinMsOf } from './SubmitOptions.js';

/** A submission that can be executed. */
interface Signed {
  readonly request: ExecuteRequest;
  readonly hash: string;
}

/** Prepares, verifies, signs and executes a submission. */
export function submit(
  service: Service,
  request: PrepareRequest,
  signer: Signer | readonly Signer[],
  options: SubmitOptions,
  ledgerRetry: RetryPolicy | undefined,
): Observable<Transaction> {
  const { verify, deduplicationPeriod, transactionFormat } = options;
  // whatever the types say: nobody skips it by oversight
  if (verify !== false && typeof verify !== 'function') throw new TypeError('verify is a verifier, or false');
  const { link } = service;
  const { report } = link;
  const execute = executor(service, options, ledgerRetry, request.commandId);
  const retry = retryPolicy(ledgerRetry, { giveUpAfterMs: withinMsOf(options) });
  const { commandId, userId } = request;
  const signers = [signer].flat();
  const prepared$ = (submissionId: string): Observable<PreparedSubmission> =>
    defer(() => {
      checkSigners(signers, validateRequest(PrepareRequest, request));
      return prepare(link, request);
    }).pipe(
      // nothing is changed by it
      retryTransient({ retry, report }),
      tap(() => {
        report(() => ({ _tag: 'SubmissionPrepared', submissionId, commandId }));
      }),
      concatMap((prepared) => (verify === false ? of(prepared) : verified(verify, prepared, request))),
      tap(() => {
        if (verify !== false) report(() => ({ _tag: 'SubmissionVerified', submissionId, commandId }));
      }),
    );
  const signed$ = (submissionId: string): Observable<Signed> =>
    prepared$(submissionId).pipe(
      concatMap(({ preparedTransaction, preparedTransactionHash, hashingSchemeVersion }) =>
        signatures(signers, preparedTransactionHash).pipe(
          map((partySignatures) => ({
            hash: preparedTransactionHash,
            request: {
              preparedTransaction,
              hashingSchemeVersion,
              partySignatures,
              submissionId,
              deduplicationPeriod,
              transactionFormat,
              userId,
            },
          })),
        ),
      ),
      tap(() => {
        report(() => ({ _tag: 'SubmissionSigned', submissionId, commandId }));
      }),
      tellFailure(link, submissionId),
    );
  // what may have been committed is sent again as it is: what was prepared anew might find its contracts used up by it
  let signed: Signed | undefined;
  return defer(() => (signed === undefined ? signed$(randomUuid()) : of(signed))).pipe(
    concatMap((ready) => {
      signed = ready;
      return execute(ready.request, ready.hash).pipe(
        tap({
          error: (error: unknown) => {
            // only what is done with: another subscription may have sent bytes of its own since
            if (signed === ready && !isOutcomeUnknownError(error)) signed = undefined;
          },
        }),
      );
    }),
  );
}

const path = '/v2/interactive-submission/prepare';

/** Throws an `InvalidRequestError` for signers whose signatures the ledger could only refuse. */
function checkSigners(signers: readonly Signer[], { actAs }: PrepareRequest): void {
  const problems: Problem[] = signers.flatMap(({ party }, i) =>
    actAs.includes(party) ? [] : [{ path: `signer[${i}].party`, expected: 'one of actAs' }],
  );
  if (signers.length === 0) problems.push({ path: 'signer', expected: 'one at least' });
  if (problems.length > 0) throw new InvalidRequestError(problems);
}

const verified = (
  verify: Verifier,
  prepared: PreparedSubmission,
  request: PrepareRequest,
): Observable<PreparedSubmission> =>
  defer(() => from(verify(prepared, request))).pipe(
    tap((verdict) => {
      if (verdict === false) throw new VerificationError('refused', 'the verifier says no');
    }),
    ignoreElements(),
    endWith(prepared),
  );

/** What is signed has this many bytes; the hash of a topology transaction, say, has more. */
const hashBytes = 32;

/** Has all signers sign a hash, one after the other; those of one party together. */
const signatures = (signers: readonly Signer[], hash: string): Observable<PartySignatures> => {
  if (fromBase64(hash).length !== hashBytes)
    throw new VerificationError('hash', 'the hash is not one of a transaction');
  return from(signers).pipe(
    concatMap((signer) =>
      // bytes of its own: nobody changes what the next one signs
      from(signer.sign(fromBase64(hash))).pipe(
        toArray(),
        map((given) => ({ party: signer.party, signatures: given.flat() })),
      ),
    ),
    reduce<SinglePartySignatures, readonly SinglePartySignatures[]>(joined, []),
    map((all) => ({ signatures: all })),
  );
};

function joined(all: readonly SinglePartySignatures[], one: SinglePartySignatures): readonly SinglePartySignatures[] {
  if (!all.some(({ party }) => party === one.party)) return [...all, one];
  return all.map((entry) =>
    entry.party === one.party ? { ...entry, signatures: [...entry.signatures, ...one.signatures] } : entry,
  );
}

/** Has a submission prepared for signing. Changes nothing on the ledger. */
export const prepare = (link: Link, request: PrepareRequest): Observable<PreparedSubmission> =>
  defer(() =>
    exchange(
      link,
      { method: 'POST', path, body: validateRequest(PrepareRequest, request) },
      decodeWith(path, PreparedSubmission),
    ),
  );

/** The bytes behind base64. Throws a `DOMException` where it is none. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let index = 0; index < binary.length; index++) bytes[index] = binary.charCodeAt(index);
  return bytes;
}
