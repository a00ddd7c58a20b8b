import { concatMap, defer, endWith, from, ignoreElements, map, of, tap, type Observable } from 'rxjs';
import type { ExecuteRequest } from '../codecs/ExecuteRequest.js';
import type { PreparedSubmission } from '../codecs/PreparedSubmission.js';
import { PrepareRequest } from '../codecs/PrepareRequest.js';
import type { Transaction } from '../codecs/Transaction.js';
import { isOutcomeUnknownError } from '../errors/OutcomeUnknownError.js';
import { VerificationError } from '../errors/VerificationError.js';
import type { Service } from '../feed/Service.js';
import { checked } from '../http/checked.js';
import { retryPolicy, type RetryPolicy } from '../http/RetryPolicy.js';
import { retryTransient } from '../http/retryTransient.js';
import { checkSigners } from './checkSigners.js';
import { executor } from './executor.js';
import { prepare } from './prepare.js';
import { randomUuid } from './randomUuid.js';
import { signatures } from './signatures.js';
import type { Signer } from './Signer.js';
import type { SubmitOptions } from './SubmitOptions.js';
import { tellFailure } from './tellOutcome.js';
import type { Verifier } from './Verifier.js';
import { withinMsOf } from './withinMsOf.js';

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
      checkSigners(signers, checked(PrepareRequest, request));
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

/** A submission that can be executed. */
interface Signed {
  readonly request: ExecuteRequest;
  readonly hash: string;
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
