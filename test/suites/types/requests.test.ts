import { describe, expect, it } from '@jest/globals';
import { NEVER, type Observable } from 'rxjs';
import type { Update } from '../../../src/codecs/Update.js';
import type { TransactionFilter } from '../../../src/codecs/Filters.js';
import { acsDelta, ledgerEffects } from '../../../src/codecs/UpdateFormat.js';
import { UpdatesRequest } from '../../../src/codecs/UpdatesRequest.js';
import type { UpdatesSelection } from '../../helpers/wireTypes.js';
import { createLedger } from '../../../src/ledger/createLedger.js';
import type { LedgerReader } from '../../../src/ledger/Ledger.js';
import { ofEvent, ofVariant } from '../../../src/operators/byTag.js';
import { toEvents } from '../../../src/operators/toEvents.js';
import { updatesFeed } from '../../../src/process/updatesFeed.js';

/** Types, which `npm run typecheck` proves: Jest does not check them. */

const ledger = createLedger({ baseUrl: 'http://ledger.example', port: () => NEVER });
const updateFormat = acsDelta({ parties: 'any' });
const filter: TransactionFilter = { filtersForAnyParty: {} };

/** The compiler refuses what the ledger refuses; these have no rule of their own at run time. */
const compiles = (make: () => unknown): void => {
  expect(make).not.toThrow();
};

describe('a request for updates', () => {
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
  });

  it('requires an update format or a filter for a feed to process', () => {
    // @ts-expect-error -- the ledger answers 400
    compiles(() => updatesFeed(ledger, { beginExclusive: 0 }));
    compiles(() => updatesFeed(ledger, { beginExclusive: 0, updateFormat }));
  });

  it('accepts either of them, and null for the other', () => {
    compiles(() => ledger.updates({ beginExclusive: 0, updateFormat }));
    compiles(() => ledger.updates({ beginExclusive: 0, filter }));
    compiles(() => ledger.updates({ beginExclusive: 0, updateFormat, filter: null, verbose: null }));
    compiles(() => ledger.updates({ beginExclusive: 0, updateFormat: null, filter, verbose: false }));
  });

  it('for all effects leads to no archivals', () => {
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

  it('is made of a range and a selection', () => {
    const range = { beginExclusive: 0, endInclusive: 5 };
    const selections: readonly UpdatesSelection[] = [{ updateFormat }, { filter }, { filter, verbose: true }];
    for (const selection of selections) expect(UpdatesRequest.is({ ...range, ...selection })).toBe(true);
  });

  it('without either is still decoded at run time: the ledger decides', () => {
    expect(UpdatesRequest.is({ beginExclusive: 0 })).toBe(true);
  });
});
