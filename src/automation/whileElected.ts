import { concatMap, defer, filter, from, map, type MonoTypeOperatorFunction, type Observable, tap } from 'rxjs';
import { ledgerEffects } from '../codecs/UpdateFormat.js';
import { isLedgerError, type LedgerError } from '../errors/LedgerError.js';
import { reportOf } from '../client/Client.js';
import { type CompleteRetryPolicy, mapError, type RetrySettings, retryTransient } from '../http/retry.js';
import type { LedgerReader } from '../ledger/Ledger.js';
import type { CheckpointStore, Cursor, TransactionalStore } from '../process/CheckpointStore.js';
import { acquireStore } from '../process/heldStore.js';
import { whileHeld } from '../process/whileHeld.js';
import { rejectedCursor, resumePoint } from '../process/resumePoint.js';
import { lastCalls } from '../process/Stop.js';
import { updatesFeed } from '../process/updatesFeed.js';
import { type Memory, StoredMemory } from './Memory.js';
import type { Acted, Rule } from './Rule.js';

/** Works with a memory until the rule is stopped or the ledger is replaced. */
export type Work = (memoryOf: (isGone: (contractId: string) => boolean) => Memory) => Observable<Acted>;

/** What is known of a store. */
export interface StoreState {
  /** Whether another process holds the name. */
  isStandby?: boolean;
  /** Why the store cannot be reached, until it is. */
  storeError?: LedgerError | undefined;
}

/** The store of a rule, and how it is used. */
interface StoreSettings {
  readonly store: CheckpointStore | TransactionalStore<unknown>;
  readonly retry: CompleteRetryPolicy;
  readonly state: StoreState;
}

/** Works while the store is held, with what the rule has saved in it. If the store fails, both begin again. */
export function whileElected(
  ledger: LedgerReader,
  { name, actAs }: Rule,
  { store, retry, state }: StoreSettings,
  workWith: Work,
): Observable<Acted> {
  // shows whether the ledger is the one of the record: also actions that neither create nor archive
  const feed = updatesFeed(ledger, { beginExclusive: 0, updateFormat: ledgerEffects({ parties: actAs }) });
  return defer(() => {
    const opened = feed.open({ emitUndecoded: true });
    // of the same updates, but no cursor of a processor: what a rule has read, a processor has not handled
    const identity$ = opened.identity$.pipe(
      map((identity) => ({ ...identity, selection: `rule:${identity.selection}` })),
    );
    const reader = { ...opened, identity$ };
    const named = reportOf(reader.report, { rule: name });
    const report: RetrySettings['report'] = (make) => {
      const diagnostic = make();
      if (diagnostic._tag === 'RetryScheduled')
        Object.assign(state, { isStandby: false, storeError: diagnostic.cause });
      named(() => diagnostic);
    };
    const retrying = { retry, report };
    const answered = <A>(): MonoTypeOperatorFunction<A> =>
      tap(() => {
        state.storeError = undefined;
      });
    const leader$ = acquireStore({ name, store }, retrying, lastCalls(storeTimeoutMs)).pipe(
      answered(),
      tap(({ isStandby }) => {
        state.isStandby = isStandby;
      }),
      filter(({ isStandby }) => !isStandby),
    );
    return whileHeld(leader$, ({ load$, save, transactions }) =>
      resumePoint(reader, name, load$.pipe(answered())).pipe(
        concatMap((point) => from(reader.prove?.(point.cursor) ?? [undefined]).pipe(map(() => point))),
        mapError((error) => rejectedCursor(name, error)),
        concatMap(({ cursor }) => {
          const saveRecord = (record: Cursor): Observable<unknown> =>
            transactions.transact((tx) => save(record, tx).pipe(answered()));
          return workWith((isGone) => new StoredMemory(name, cursor, saveRecord, isGone));
        }),
      ),
    ).pipe(
      retryTransient(retrying, (error) => isLedgerError(error, 'StoreError') && error.retried === undefined),
      filter((acted) => acted !== undefined),
    );
  });
}

/** How long a call of the store may take, in milliseconds. */
const storeTimeoutMs = 30_000;
