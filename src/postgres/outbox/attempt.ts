import {
  catchError,
  concatAll,
  concatMap,
  defaultIfEmpty,
  defer,
  EMPTY,
  filter,
  from,
  map,
  type Observable,
  of,
  take,
  throwIfEmpty,
} from 'rxjs';
import type { Client } from '../../client/Client.js';
import type { DeduplicationPeriod } from '../../codecs/ExecuteRequest.js';
import type { LedgerPosition } from '../../codecs/LedgerPosition.js';
import type { Offset } from '../../codecs/scalars.js';
import type { CommandsRequest } from '../../codecs/SubmissionRequest.js';
import type { SubmittedTransaction } from '../../codecs/Transaction.js';
import { ledgerEffects } from '../../codecs/UpdateFormat.js';
import { verdictOf } from '../../dispatch/verdict.js';
import { readContractEvents } from '../../feed/contractEvents.js';
import type { Ledger } from '../../ledger/Ledger.js';
import type { CommandsOptions } from '../../submission/submitCommands.js';
import { submittedBy } from '../../submission/submitter.js';
import { offsetPeriod } from '../../submission/deduplication.js';
import type { LookBack } from './lookBack.js';
import { commitOf, failureOf, type Outcome, replacementOf, storedText } from './outcome.js';
import type { OutboxRow } from './OutboxRows.js';

/** How commands are sent. */
interface SubmissionSettings {
  readonly ledger: Ledger;
  readonly client: Client;
  /** The name of the outbox. */
  readonly name: string;
  readonly recover: CommandsOptions['recover'];
  /** Returns the deduplication periods. */
  readonly periods: LookBack;
}

/** Sends a command, or determines whether it was committed before. Emits the outcome once, and never fails. */
export function attempt(
  { ledger, client, name, recover, periods }: SubmissionSettings,
  row: OutboxRow<CommandsRequest>,
  position: LedgerPosition,
  open: Map<string, Observable<SubmittedTransaction>>,
): Observable<Outcome> {
  const kept$ = open.get(row.commandId);
  open.delete(row.commandId);
  const replaced = replacementOf(row, position);
  if (replaced !== undefined) return of(replaced);
  const { commandId, mayBeCommitted } = row;
  const start = mayBeCommitted ? startOf(row) : undefined;
  const submit = (deduplicationPeriod: DeduplicationPeriod, since = start): Observable<SubmittedTransaction> => {
    const request = { ...row.request, commandId, deduplicationPeriod };
    const options = { ...(since !== undefined && { since }), ...(recover !== undefined && { recover }) };
    let transaction$: Observable<SubmittedTransaction> | undefined;
    // called once: subscribing again continues it, and knows of the attempts so far
    return defer(
      () =>
        (transaction$ ??= submittedBy(
          client,
          { outbox: name },
          commandId,
          ledger.submitAndWaitForTransaction(request, options),
        )),
    );
  };
  const follow = (transaction$: Observable<SubmittedTransaction>, isLast = false): Observable<Outcome> =>
    transaction$.pipe(
      take(1),
      throwIfEmpty(),
      map(commitOf),
      catchError((error: unknown) => {
        const failure = failureOf(error, row);
        if (failure.state === 'pending' && failure.mayBeCommitted) open.set(commandId, transaction$);
        if (isLast || failure.mayBeCommitted) return of(failure);
        const later = laterPeriod(periods, row, error);
        if (later !== undefined) return follow(submit(later), true);
        if (failure.state !== 'parked' || failure.reason !== 'inactiveContract') return of(failure);
        return beforeOwnArchival(ledger, client, row).pipe(
          map((since) => follow(submit(offsetPeriod(since), since), true)),
          defaultIfEmpty(of(failure)),
          concatAll(),
        );
      }),
    );
  // a person may have made it forget that it was sent, and it may be decided again
  if (mayBeCommitted && kept$ !== undefined) return follow(kept$);
  return periods.periodOf(row).pipe(
    map((period) => follow(submit(period))),
    // nothing was sent
    catchError((cause: unknown) =>
      of(of<Outcome>({ state: 'pending', mayBeCommitted: true, reason: 'unknown', cause, error: storedText(cause) })),
    ),
    concatAll(),
  );
}

/** The period of another attempt, after one that was refused because the participant has pruned what it looks back to. */
function laterPeriod(
  periods: LookBack,
  row: OutboxRow<CommandsRequest>,
  error: unknown,
): DeduplicationPeriod | undefined {
  const verdict = verdictOf(error);
  if (verdict.kind !== 'refused' || verdict.earliest === undefined) return undefined;
  return periods.laterPeriodOf(row, verdict.earliest);
}

/**
 * Emits an offset right before a transaction that has archived a contract of a command, and has the id of the command: a participant
 * looks for contracts before it looks for duplicates, so it refuses a command for a contract that the command has used up itself.
 * Completes if there is none, or if the participant does not show it.
 */
const beforeOwnArchival = (
  ledger: Ledger,
  client: Client,
  { request, commandId }: OutboxRow<CommandsRequest>,
): Observable<Offset> => {
  const { commands, actAs: parties } = request;
  const ids = commands.flatMap((each) => ('ExerciseCommand' in each ? [each.ExerciseCommand.contractId] : []));
  const updateFormat = ledgerEffects({ parties, topology: false });
  return from(new Set(ids)).pipe(
    concatMap((id) => readContractEvents(client, id, { parties })),
    concatMap(({ archived }) => {
      if (archived === undefined) return EMPTY;
      const { offset } = archived;
      const range = { beginExclusive: offset - 1, endInclusive: offset };
      return ledger.updates({ ...range, updateFormat }, { retry: { giveUpAfterMs: 0 } });
    }),
    filter((update) => update._tag === 'Transaction' && update.commandId === commandId),
    map(({ offset }) => offset - 1),
    take(1),
    catchError(() => EMPTY),
  );
};

/** Where a command begins that an earlier process, or an earlier attempt, may have sent. */
const startOf = ({ since, position }: OutboxRow): Offset | LedgerPosition =>
  position === undefined ? since : { ...position, offset: since };
