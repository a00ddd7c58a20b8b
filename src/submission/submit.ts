import { concatMap, defer, endWith, from, ignoreElements, tap, type Observable } from 'rxjs';
import type { PreparedSubmission } from '../codecs/PreparedSubmission.js';
import type { PrepareRequest } from '../codecs/PrepareRequest.js';
import type { Transaction } from '../codecs/Transaction.js';
import type { Service } from '../feed/Service.js';
import { retryPolicy, type RetryPolicy } from '../http/RetryPolicy.js';
import { retryTransient } from '../http/retryTransient.js';
import { executor } from './executor.js';
import { prepare } from './prepare.js';
import { signatures } from './signatures.js';
import type { Signer } from './Signer.js';
import type { SubmitOptions } from './SubmitOptions.js';
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
  const { commandId, userId } = request;
  const execute = executor(service, options, ledgerRetry);
  const retry = retryPolicy(ledgerRetry, { giveUpAfterMs: withinMsOf(options) });
  const verified = (prepared: PreparedSubmission): Observable<PreparedSubmission> =>
    verify === false
      ? from([prepared])
      : defer(() => from(verify(prepared, request))).pipe(
          ignoreElements(),
          endWith(prepared),
          tap(() => {
            report(() => ({ _tag: 'SubmissionVerified', commandId }));
          }),
        );
  return prepare(link, request).pipe(
    // nothing is changed by it
    retryTransient({ retry, report }),
    tap(() => {
      report(() => ({ _tag: 'SubmissionPrepared', commandId }));
    }),
    concatMap(verified),
    concatMap(({ preparedTransaction, preparedTransactionHash, hashingSchemeVersion }) =>
      signatures([signer].flat(), preparedTransactionHash).pipe(
        tap((partySignatures) => {
          const count = partySignatures.signatures.flatMap((party) => party.signatures).length;
          report(() => ({ _tag: 'SubmissionSigned', commandId, signatures: count }));
        }),
        concatMap((partySignatures) =>
          execute(
            {
              preparedTransaction,
              hashingSchemeVersion,
              partySignatures,
              deduplicationPeriod,
              transactionFormat,
              userId,
            },
            preparedTransactionHash,
          ),
        ),
      ),
    ),
  );
}
