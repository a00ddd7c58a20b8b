import { describe, expect, it } from '@jest/globals';
import type { either as E } from 'fp-ts';
import { EMPTY, type Observable } from 'rxjs';
import {
  type CreatedEvent,
  type LedgerError,
  type TransactionEvent,
  type UndecodedUpdate,
  ofEvent,
  ofTemplate,
  ofVariant,
  onSynchronizer,
  recordTimes,
  type Timestamp,
  toEither,
  toEvents,
  type Transaction,
  type Update,
} from '../../src/index.js';

const updates$: Observable<Update> = EMPTY;
const withInvalid$: Observable<Update | UndecodedUpdate> = EMPTY;

/** A service with annotated fields: the expected type of a pipe must not change the inference of its operators. */
class Service {
  readonly transactions$: Observable<Transaction> = updates$.pipe(ofVariant('Transaction'));
  readonly onSync1$: Observable<Transaction> = updates$.pipe(ofVariant('Transaction'), onSynchronizer('sync1'));
  readonly onSync1First$: Observable<Transaction> = updates$.pipe(onSynchronizer('sync1'), ofVariant('Transaction'));
  readonly events$: Observable<TransactionEvent> = updates$.pipe(ofVariant('Transaction'), toEvents());
  readonly created$: Observable<CreatedEvent> = updates$.pipe(toEvents(), ofEvent('CreatedEvent'));
  readonly assets$: Observable<CreatedEvent> = updates$.pipe(
    toEvents(),
    ofEvent('CreatedEvent'),
    ofTemplate('Main:Asset'),
  );
  readonly assetsFirst$: Observable<CreatedEvent> = updates$.pipe(
    toEvents(),
    ofTemplate('Main:Asset'),
    ofEvent('CreatedEvent'),
  );
  readonly invalid$: Observable<UndecodedUpdate> = withInvalid$.pipe(ofVariant('UndecodedUpdate'));
  readonly clock$: Observable<ReadonlyMap<string, Timestamp>> = updates$.pipe(recordTimes());
  readonly either$: Observable<E.Either<LedgerError, Transaction>> = updates$.pipe(
    ofVariant('Transaction'),
    toEither(),
  );
  // @ts-expect-error -- a checkpoint is not a transaction
  readonly wrong$: Observable<Transaction> = updates$.pipe(ofVariant('OffsetCheckpoint'));
}

describe('an operator', () => {
  it('narrows to the type of an annotated field', () => {
    expect(Object.values(new Service())).toHaveLength(11);
  });
});
