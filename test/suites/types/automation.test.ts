import { describe, expect, it } from '@jest/globals';
import * as t from 'io-ts';
import { map, NEVER, of } from 'rxjs';
import { type Acted, automate, type Rule } from '../../../src/automation/index.js';
import { contractType, createLedger, exercise } from '../../../src/index.js';
import { memoryStore } from '../../../src/process/index.js';

/** Types, which `npm run typecheck` proves: Jest does not check them. */

const ledger = createLedger({ baseUrl: 'http://ledger.example', port: () => NEVER });
const Offer = contractType('#shop:Main:Offer', t.type({ price: t.string }), {
  choices: { Accept: { argument: t.type({ note: t.string }) } },
});
const Order = contractType('#shop:Main:Order', t.type({ count: t.number }));
const types = { offer: Offer, order: Order };
const base = { name: 'accept', query: { types, parties: ['alice::1220ab'] }, actAs: ['alice::1220ab'] } as const;

const compiles = (make: () => unknown): void => {
  expect(make).not.toThrow();
};

describe('a rule', () => {
  it('gets the contracts of its query, decoded', () => {
    compiles(() =>
      automate(ledger, {
        ...base,
        where: (contract) => contract.type === 'offer' && contract.payload.price === '1',
        act: (contract, { contracts, attempt }) => {
          const [other] = contracts.toArray();
          if (contract.type === 'order' || other?._tag === 'UndecodedContract' || attempt > 3) return undefined;
          return exercise(Offer.Accept, contract.contractId, { note: contract.payload.price });
        },
      }),
    );
    // @ts-expect-error -- an order has no price
    compiles(() => automate(ledger, { ...base, where: ({ payload }) => payload.price === '1', act: () => undefined }));
    // @ts-expect-error -- there is no such type in the query
    compiles(() => automate(ledger, { ...base, where: ({ type }) => type === 'bill', act: () => undefined }));
  });

  it('returns commands, or an Observable or a Promise of them', () => {
    const command = exercise(Offer.Accept, '00ab', { note: '' });
    compiles((): Rule['act'] => () => command);
    compiles((): Rule['act'] => () => [command, command]);
    compiles((): Rule['act'] => () => ({ commands: [command], workflowId: 'w' }));
    compiles((): Rule['act'] => () => of(command, undefined));
    compiles((): Rule['act'] => () => Promise.resolve([command]));
    // @ts-expect-error -- the argument of the choice is missing
    compiles((): Rule['act'] => () => exercise(Offer.Accept, '00ab', {}));
    // @ts-expect-error -- not a number
    compiles((): Rule['act'] => () => 7);
  });

  it('does not choose what the ledger recognizes a repetition by', () => {
    const commands = [exercise(Offer.Accept, '00ab', { note: '' })] as const;
    // @ts-expect-error -- it follows from the rule, the contract and the round
    compiles((): Rule['act'] => () => ({ commands, commandId: 'mine' }));
    // @ts-expect-error -- those of the rule
    compiles((): Rule['act'] => () => ({ commands, actAs: ['bob::1220ab'] }));
    // @ts-expect-error -- that of the rule
    compiles((): Rule['act'] => () => ({ commands, userId: 'bob' }));
    // @ts-expect-error -- it must cover all earlier attempts
    compiles((): Rule['act'] => () => ({ commands, deduplicationPeriod: { Empty: {} } }));
  });

  it('says when it is due by a Date, and its round by a text', () => {
    compiles((): Rule['dueAt'] => () => undefined);
    // @ts-expect-error -- not a number
    compiles((): Rule['dueAt'] => () => 1_000);
    // @ts-expect-error -- not a number
    compiles((): Rule['round'] => () => 7);
    // @ts-expect-error -- a Promise is always true
    compiles((): Rule['where'] => () => Promise.resolve(false));
    // @ts-expect-error -- a Promise is always true
    compiles((): Rule['done'] => () => Promise.resolve(false));
  });

  it('has a name, a query, parties and an action', () => {
    const act = () => undefined;
    compiles(() => automate(ledger, { ...base, act }));
    // @ts-expect-error -- without a name, a restart acts again
    compiles(() => () => automate(ledger, { query: base.query, actAs: base.actAs, act }));
    // @ts-expect-error -- without parties, nobody authorizes the action
    compiles(() => () => automate(ledger, { name: 'a', query: base.query, act }));
    // @ts-expect-error -- without an action
    compiles(() => () => automate(ledger, base));
  });
});

describe('an automation', () => {
  it('takes a store and a function that submits', () => {
    const act = () => undefined;
    compiles(() => automate(ledger, { ...base, act }, { store: memoryStore(), concurrency: 8 }));
    compiles(() =>
      automate(ledger, { ...base, act }, { submit: (request) => ledger.submitAndWaitForTransaction(request) }),
    );
    // @ts-expect-error -- the transaction shows where the contracts are next
    compiles(() => automate(ledger, { ...base, act }, { submit: () => of(undefined) }));
  });

  it('emits what it did, narrowed by its tag', () => {
    const acted$ = automate(ledger, { ...base, act: () => undefined });
    compiles(() => acted$.pipe(map((acted) => (acted._tag === 'Committed' ? acted.transaction.offset : 0))));
    compiles(() => acted$.status$.pipe(map(({ rule, failures, oldestMs }) => [rule, failures.length, oldestMs])));
    // @ts-expect-error -- an obsolete action has no transaction
    compiles(() => (acted: Extract<Acted, { _tag: 'Obsolete' }>) => typeof acted.transaction);
  });
});
