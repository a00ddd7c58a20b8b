import { catchError, concat, defer, filter, map, take, throwIfEmpty, type Observable } from 'rxjs';
import { acsDelta } from '../codecs/acsDelta.js';
import { ledgerEffects } from '../codecs/ledgerEffects.js';
import { Offset } from '../codecs/Offset.js';
import type { Transaction } from '../codecs/Transaction.js';
import type { ApiError } from '../errors/ApiError.js';
import { isLedgerError } from '../errors/LedgerError.js';
import { isOutcomeUnknownError, OutcomeUnknownError } from '../errors/OutcomeUnknownError.js';
import type { Submission } from '../errors/Submission.js';
import { retryTransient } from '../http/retryTransient.js';
import { within } from '../http/within.js';
import type { Sending } from './Sending.js';
import { transactionAt } from './transactionAt.js';

/** The transaction of a change that the ledger refuses to commit once more, since it has; read within a time. */
export function readCommitted(
  sending: Sending,
  submission: Submission,
  duplicate: ApiError,
  withinMs: number,
): Observable<Transaction> {
  const { request, retry, service } = sending;
  const { parties } = submission;
  const offset = completionOffset(duplicate);
  if (offset === undefined) throw new OutcomeUnknownError(submission, duplicate);
  const shown = request.transactionFormat
    ? { includeTransactions: request.transactionFormat }
    : acsDelta({ parties, topology: false });
  return concat(
    transactionAt(sending, offset, shown),
    // where the format shows nothing, the service itself answers a transaction without events
    defer(() => transactionAt(sending, offset, ledgerEffects({ parties, topology: false }))).pipe(
      map((transaction) => ({ ...transaction, events: [] })),
    ),
  ).pipe(
    filter((transaction) => isOurs(transaction, sending)),
    take(1),
    throwIfEmpty(() => duplicate),
    retryTransient({ retry, report: service.link.report }),
    within(withinMs, () => new OutcomeUnknownError(submission, duplicate, offset)),
    catchError((error: unknown) => {
      throw isLedgerError(error) && !isOutcomeUnknownError(error)
        ? new OutcomeUnknownError(submission, error, offset)
        : error;
    }),
  );
}

/** Behind a balancer another participant may be asked, where the offset is that of something else. */
const isOurs = (transaction: Transaction, { commandId = '' }: Sending): boolean =>
  commandId === '' || (transaction.commandId ?? '') === '' || transaction.commandId === commandId;

/** Where the ledger says that it was committed; some versions wrap the number. */
function completionOffset({ context }: ApiError): Offset | undefined {
  const digits = /^(?:Some\()?(\d+)\)?$/.exec(context['completion_offset'] ?? '')?.[1];
  const offset = digits === undefined ? undefined : Number(digits);
  return Offset.is(offset) ? offset : undefined;
}
