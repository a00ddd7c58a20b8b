import { describe, expect, it } from '@jest/globals';
import { map, NEVER } from 'rxjs';
import { type Command, createLedger, type CommandsRequest, retryContention } from '../../../src/index.js';

/** Types, which `npm run typecheck` proves: Jest does not check them. */

const ledger = createLedger({ baseUrl: 'http://ledger.example', port: () => NEVER });
const commands: readonly Command[] = [{ CreateCommand: { templateId: '#p:M:T', createArguments: {} } }];
const actAs = ['alice::1220ab'] as const;

const compiles = (make: () => unknown): void => {
  expect(make).not.toThrow();
};

describe('a request with commands of hosted parties', () => {
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
    compiles(() =>
      ledger.submitAndWaitForTransaction({ actAs, commands }).pipe(
        retryContention(),
        map(({ isRepeated, events }) => [isRepeated === true, events.length]),
      ),
    );
  });
});
