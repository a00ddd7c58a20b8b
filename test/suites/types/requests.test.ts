import { describe, expect, it } from '@jest/globals';
import { expectTypeOf } from 'expect-type';
import { map, NEVER, type Observable } from 'rxjs';
import type { TransactionFilter } from '../../../src/codecs/Filters.js';
import { UpdatesRequest } from '../../../src/codecs/UpdatesRequest.js';
import {
  acsDelta,
  type Command,
  type CommandsRequest,
  createLedger,
  ledgerEffects,
  type LedgerReader,
  ofEvent,
  ofVariant,
  retryContention,
  toEvents,
  type Update,
} from '../../../src/index.js';
import { updatesFeed } from '../../../src/process/updatesFeed.js';

/** Types, which `npm run typecheck` proves: Jest does not check them. */

const ledger = createLedger({ baseUrl: 'http://ledger.example', port: () => NEVER });
const updateFormat = acsDelta({ parties: 'any' });
const filter: TransactionFilter = { filtersForAnyParty: {} };

/** The compiler refuses what the ledger refuses; these have no rule of their own at run time. */
const compiles = (make: () => unknown): void => {
  expect(make).not.toThrow();
};

describe('UpdatesRequest', () => {
  /** A request that does not compile does not decode, either. */
  const refused = (request: UpdatesRequest): void => {
    expect(UpdatesRequest.is(request)).toBe(false);
  };
  const accepted = (request: UpdatesRequest): void => {
    expect(UpdatesRequest.is(request)).toBe(true);
  };

  it('excludes fields that do not go together, and misspelt ones', () => {
    // @ts-expect-error -- both select updates
    refused({ beginExclusive: 0, updateFormat, filter });
    // @ts-expect-error -- verbose belongs to filter
    refused({ beginExclusive: 0, updateFormat, verbose: true });
    // @ts-expect-error -- even if false
    refused({ beginExclusive: 0, updateFormat, verbose: false });
    // @ts-expect-error -- descending order lacks its start
    refused({ beginExclusive: 0, updateFormat, descendingOrder: true });
    // @ts-expect-error -- null is no end
    refused({ beginExclusive: 0, updateFormat, descendingOrder: true, endInclusive: null });
    // @ts-expect-error -- it would be ignored
    refused({ beginExclusive: 0, updateFormats: updateFormat });
    // @ts-expect-error -- 3.3 and 3.5 require beginExclusive
    refused({ updateFormat });
    // @ts-expect-error -- a number
    refused({ beginExclusive: null, updateFormat });
  });

  it('accepts a format, or a filter with or without verbose, and either order with an end', () => {
    accepted({ beginExclusive: 0, updateFormat });
    accepted({ beginExclusive: 0, filter });
    accepted({ beginExclusive: 0, filter, verbose: true });
    accepted({ beginExclusive: 0, endInclusive: 5, updateFormat, descendingOrder: true });
    accepted({ beginExclusive: 0, endInclusive: 5, filter, descendingOrder: false });
    accepted({ beginExclusive: 0, updateFormat, descendingOrder: false });
  });

  it('accepts null for absent fields, as the wire has it', () => {
    const nulls = { endInclusive: null, verbose: null };
    accepted({ beginExclusive: 0, ...nulls, updateFormat, filter: null, descendingOrder: null });
    accepted({ beginExclusive: 0, ...nulls, filter, updateFormat: null });
    const eventFormat = { filtersByParty: { alice: { cumulative: null } }, filtersForAnyParty: null, verbose: null };
    accepted({
      beginExclusive: 0,
      updateFormat: {
        includeTransactions: { eventFormat, transactionShape: 'TRANSACTION_SHAPE_ACS_DELTA' },
        includeReassignments: null,
        includeTopologyEvents: { includeParticipantAuthorizationEvents: null },
      },
    });
  });

  it('is the type of its codec, which leaves a missing selection to the ledger', () => {
    expectTypeOf(UpdatesRequest._A).toEqualTypeOf<UpdatesRequest>();
    expect(UpdatesRequest.is({ beginExclusive: 0 })).toBe(true);
  });
});

describe('a feed', () => {
  it('requires an update format or a filter', () => {
    // @ts-expect-error -- the ledger answers 400
    compiles(() => ledger.updates({ beginExclusive: 0 }));
    // @ts-expect-error -- also of a range
    compiles(() => ledger.updates({ beginExclusive: 0, endInclusive: 5, descendingOrder: true }));
    // @ts-expect-error -- null is no update format
    compiles(() => ledger.updates({ beginExclusive: 0, updateFormat: null }));
    // @ts-expect-error -- null is no filter
    compiles(() => ledger.updates({ beginExclusive: 0, filter: null, verbose: true }));
    // @ts-expect-error -- verbose alone selects nothing
    compiles(() => ledger.updates({ beginExclusive: 0, verbose: true }));
    // @ts-expect-error -- undefined is no update format
    compiles(() => ledger.updates({ beginExclusive: 0, updateFormat: undefined }));
    // @ts-expect-error -- also with options
    compiles(() => ledger.updates({ beginExclusive: 0 }, { onUndecodable: 'emit' }));
    // @ts-expect-error -- also to process it
    compiles(() => updatesFeed(ledger, { beginExclusive: 0 }));
    compiles(() => updatesFeed(ledger, { beginExclusive: 0, updateFormat }));
  });

  it('accepts either of them, and null for the other', () => {
    compiles(() => ledger.updates({ beginExclusive: 0, updateFormat }));
    compiles(() => ledger.updates({ beginExclusive: 0, filter }));
    compiles(() => ledger.updates({ beginExclusive: 0, updateFormat, filter: null, verbose: null }));
    compiles(() => ledger.updates({ beginExclusive: 0, updateFormat: null, filter, verbose: false }));
  });

  it('of all effects has no archivals', () => {
    const effects$ = ledger.updates({ beginExclusive: 0, updateFormat: ledgerEffects({ parties: 'any' }) });
    compiles(() => effects$.pipe(toEvents(), ofEvent('CreatedEvent', 'ExercisedEvent', 'AssignedEvent')));
    // @ts-expect-error -- their exercises take their place
    compiles(() => effects$.pipe(toEvents(), ofEvent('ArchivedEvent')));
    // @ts-expect-error -- also if other updates are left out first
    compiles(() => effects$.pipe(ofVariant('Transaction'), toEvents(), ofEvent('ArchivedEvent')));
    const changes$ = ledger.updates({ beginExclusive: 0, updateFormat });
    compiles(() => changes$.pipe(ofVariant('Transaction'), toEvents(), ofEvent('ArchivedEvent')));
    const unknown$: Observable<Update> = effects$;
    compiles(() => unknown$.pipe(toEvents(), ofEvent('ArchivedEvent')));
  });

  it('is answered by a reader of a test, whatever it selects', () => {
    compiles((): LedgerReader => ({ ...ledger, updates: (): Observable<Update> => NEVER }));
  });
});

describe('a request with commands of hosted parties', () => {
  const commands: readonly Command[] = [{ CreateCommand: { templateId: '#p:M:T', createArguments: {} } }];
  const actAs = ['alice::1220ab'] as const;

  it('requires a party that acts, and commands', () => {
    compiles(() => ledger.submitAndWaitForTransaction({ actAs, commands }));
    // @ts-expect-error -- without a party, nobody authorizes the transaction
    compiles(() => ledger.submitAndWaitForTransaction({ commands }));
    // @ts-expect-error -- the ledger answers 400
    compiles(() => ledger.submitAndWaitForTransaction({ actAs: [], commands }));
    // @ts-expect-error -- the ledger answers 400
    compiles(() => ledger.submitAndWaitForTransaction({ actAs }));
    // @ts-expect-error -- not one party, but a list
    compiles(() => ledger.submitAndWaitForTransaction({ actAs: 'alice::1220ab', commands }));
  });

  it('has no fields of other requests or older releases', () => {
    // @ts-expect-error -- ledgers before 3.0 had it
    compiles((): CommandsRequest => ({ actAs, commands, applicationId: 'app' }));
    // @ts-expect-error -- only `prepare` has it
    compiles((): CommandsRequest => ({ actAs, commands, maxRecordTime: '2026-07-24T10:00:00Z' }));
    // @ts-expect-error -- the client chooses one for each attempt
    compiles((): CommandsRequest => ({ actAs, commands, submissionId: 'try-1' }));
  });

  it('has a start of an offset', () => {
    compiles(() => ledger.submitAndWaitForTransaction({ actAs, commands, commandId: 'order-1' }, { since: 7 }));
    // @ts-expect-error -- an offset, not a text
    compiles(() => () => ledger.submitAndWaitForTransaction({ actAs, commands }, { since: '7' }));
  });

  it('emits a transaction that may be repeated, also after retryContention', () => {
    const transaction$ = ledger.submitAndWaitForTransaction({ actAs, commands }).pipe(retryContention());
    compiles(() => transaction$.pipe(map(({ isRepeated, events }) => [isRepeated === true, events.length])));
  });
});
