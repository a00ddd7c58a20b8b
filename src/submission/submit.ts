import {
  concatMap,
  defer,
  finalize,
  map,
  type MonoTypeOperatorFunction,
  type Observable,
  share,
  tap,
  toArray,
} from 'rxjs';
import { fromBase64, nullable } from '../codecs/internal/field.js';
import { exact } from '../codecs/internal/message.js';
import { DeduplicationPeriod, ExecuteRequest, type PartySignatures } from '../codecs/ExecuteRequest.js';
import { PreparedSubmission, PrepareRequest } from '../codecs/SubmissionRequest.js';
import type { Problem } from '../codecs/Problem.js';
import type { SubmittedTransaction } from '../codecs/Transaction.js';
import { TransactionFormat } from '../codecs/UpdateFormat.js';
import { InvalidRequestError } from '../errors/request.js';
import { isLedgerError } from '../errors/LedgerError.js';
import { VerificationError } from '../errors/submission.js';
import type { Client } from '../client/Client.js';
import { decodeWith, exchange, validateRequest } from '../client/exchange.js';
import { stringify } from '../client/toJson.js';
import { retryPolicy, type RetryPolicy, retryTransient } from '../http/retry.js';
import { reportFailure } from './Change.js';
import { type ExecuteOptions, executor, isTransactionHash, recoveryTimeMs } from './execute.js';
import { randomUuid } from './Run.js';
import type { StartsOf } from './LedgerStarts.js';
import { isAwaited } from './outcome.js';
import type { Signer, Verifier } from './Signer.js';
import { keepRequest } from './send.js';
import { submissionReport } from './submitter.js';

/**
 * Options for verifying and executing a submission.
 *
 * @category Submission
 */
export interface SubmitOptions extends Pick<ExecuteOptions, 'recover'> {
  /**
   * Checks the prepared submission before it is signed: `preparedTransactionVerifier()` from `canton-rx/verify`, or
   * your own verifier. `false` trusts the participant with everything that the party's key can sign. Required.
   */
  readonly verify: Verifier | false;
  /**
   * How far back the ledger searches for the same change. Default: `{ Empty: {} }`, the longest period that the participant
   * allows, usually seven days.
   */
  readonly deduplicationPeriod?: DeduplicationPeriod | undefined;
  /** The events in the transaction. Default: the changes of active contracts that a submitting party sees. */
  readonly transactionFormat?: TransactionFormat | undefined;
}

/** The options that are sent with the signatures. */
const ExecutionOptions = exact<Pick<ExecuteRequest, 'deduplicationPeriod' | 'transactionFormat'>>('SubmitOptions', {
  deduplicationPeriod: nullable(DeduplicationPeriod),
  transactionFormat: nullable(TransactionFormat),
});

/** A submission that is ready for execution. */
interface SignedSubmission {
  readonly request: ExecuteRequest;
  readonly hash: string;
}

/** Returns the function that prepares, verifies, signs and executes a submission. */
export function submit(
  startsOf: StartsOf,
  request: PrepareRequest,
  signer: Signer | readonly Signer[],
  options: SubmitOptions,
  ledgerRetry: RetryPolicy | undefined,
): (client: Client) => Observable<SubmittedTransaction> {
  const { verify, deduplicationPeriod, transactionFormat } = options;
  // checked despite the types, so that verification is never skipped by accident
  if (verify !== false && typeof verify !== 'function') throw new TypeError('verify must be a Verifier or false');
  const execute = executor(startsOf, options, ledgerRetry, request.commandId);
  const retry = retryPolicy(ledgerRetry, { giveUpAfterMs: recoveryTimeMs(options) });
  const { commandId, userId } = request;
  const signers = [signer].flat();
  const kept = keepRequest(() => {
    validateRequest(PrepareRequest, request);
    // without defaults: a verifier gets what the caller wants
    return JSON.parse(stringify(request)) as PrepareRequest;
  });
  const keptOptions = keepRequest(() => validateRequest(ExecutionOptions, { deduplicationPeriod, transactionFormat }));
  const reportStep = <A>(
    _tag: 'SubmissionPrepared' | 'SubmissionVerified' | 'SubmissionSigned',
    client: Client,
    submissionId: string,
  ): MonoTypeOperatorFunction<A> =>
    tap(() => {
      submissionReport(client, commandId)(() => ({ _tag, submissionId, commandId }));
    });
  const prepared$ = (client: Client, submissionId: string): Observable<PreparedSubmission> =>
    defer(() => {
      checkSigners(signers, kept());
      // before anyone signs what could not be executed
      keptOptions();
      return prepare(client, kept());
    }).pipe(
      // safe to repeat, because it does not change the ledger
      retryTransient({ retry, report: submissionReport(client, commandId) }, isAwaited),
      reportStep('SubmissionPrepared', client, submissionId),
      concatMap((prepared) =>
        verify === false
          ? [prepared]
          : verifyPrepared(verify, prepared, kept()).pipe(reportStep('SubmissionVerified', client, submissionId)),
      ),
    );
  const signed$ = (client: Client, submissionId: string): Observable<SignedSubmission> =>
    prepared$(client, submissionId).pipe(
      concatMap(({ preparedTransaction, preparedTransactionHash, hashingSchemeVersion }) =>
        collectSignatures(signers, preparedTransactionHash).pipe(
          map((partySignatures) => ({
            hash: preparedTransactionHash,
            request: {
              preparedTransaction,
              hashingSchemeVersion,
              partySignatures,
              submissionId,
              ...keptOptions(),
              userId,
            },
          })),
        ),
      ),
      reportStep('SubmissionSigned', client, submissionId),
      reportFailure(submissionReport(client, commandId), submissionId),
    );
  // kept while its outcome is unknown, because a new preparation might use contracts that the first one has archived
  let signed: SignedSubmission | undefined;
  let signing$: Observable<SignedSubmission> | undefined;
  let executing = 0;
  const forget = (): void => {
    signing$ = undefined;
  };
  // once for subscriptions at the same time: the ledger finds signed bytes by their hash
  const signOnce = (client: Client): Observable<SignedSubmission> =>
    (signing$ ??= signed$(client, randomUuid()).pipe(
      // before its subscribers learn of an error: one that subscribes again at once begins another preparation
      tap({ error: forget, complete: forget, unsubscribe: forget }),
      share(),
    ));
  return (client) =>
    defer(() => (signed === undefined ? signOnce(client) : [signed])).pipe(
      concatMap((ready) => {
        signed = ready;
        executing += 1;
        return execute(client, () => validateRequest(ExecuteRequest, ready.request), ready.hash).pipe(
          tap({
            error: (error: unknown) => {
              // another subscription may still commit it
              if (executing === 1 && !isLedgerError(error, 'OutcomeUnknownError')) signed = undefined;
            },
          }),
          finalize(() => {
            executing -= 1;
          }),
        );
      }),
    );
}

const path = '/v2/interactive-submission/prepare';

/** Throws an `InvalidRequestError` if the ledger would refuse the signatures of the signers. */
function checkSigners(signers: readonly Signer[], { actAs }: PrepareRequest): void {
  const problems: Problem[] = signers.flatMap(({ party }, i) =>
    actAs.includes(party) ? [] : [{ path: `signer[${i}].party`, expected: 'one of actAs' }],
  );
  if (signers.length === 0) problems.push({ path: 'signer', expected: 'at least one' });
  if (problems.length > 0) throw new InvalidRequestError(problems);
}

const verifyPrepared = (
  verify: Verifier,
  prepared: PreparedSubmission,
  request: PrepareRequest,
): Observable<PreparedSubmission> =>
  defer(() => verify(prepared, request)).pipe(
    toArray<unknown>(),
    map((verdicts) => {
      if (verdicts.length === 0) throw new VerificationError('refused', 'the verifier completed without a verdict');
      if (verdicts.some((verdict) => verdict !== true))
        throw new VerificationError('refused', 'the verifier refused it');
      return prepared;
    }),
  );

/** Calls all signers one after the other, and merges the signatures of each party. */
const collectSignatures = (signers: readonly Signer[], hash: string): Observable<PartySignatures> => {
  if (!isTransactionHash(hash)) throw new VerificationError('hash', 'the hash is not that of a transaction');
  const parties = [...new Set(signers.map(({ party }) => party))];
  return defer(() => signers).pipe(
    concatMap((signer) =>
      // a copy for each signer, so that no signer can change what the next one signs
      defer(() => signer.sign(fromBase64(hash))).pipe(
        map((emitted) => ({ party: signer.party, signatures: [emitted].flat() })),
      ),
    ),
    toArray(),
    map((all) => ({
      signatures: parties.map((party) => ({
        party,
        signatures: all.filter((one) => one.party === party).flatMap(({ signatures }) => signatures),
      })),
    })),
  );
};

/** Requests the preparation of a submission for signing. It does not change the ledger. */
export const prepare = (client: Client, request: PrepareRequest): Observable<PreparedSubmission> =>
  defer(() =>
    exchange(
      client,
      { method: 'POST', path, body: validateRequest(PrepareRequest, request) },
      decodeWith(path, PreparedSubmission),
    ),
  );
