import { describe, expect, it } from '@jest/globals';
import * as t from 'io-ts';
import {
  asyncScheduler,
  bufferCount,
  concat,
  concatMap,
  from,
  map,
  merge,
  type Observable,
  takeUntil,
  timer,
} from 'rxjs';
import { type Acted, automate } from '../../src/automation/index.js';
import { type Command, contractType, create, createLedger, exercise } from '../../src/index.js';
import { createSandbox, type Sandbox, template } from '../../src/sandbox/index.js';
import { at, textAt } from '../sandbox/client.js';
import { observe } from '../helpers/observe.js';
import { runVirtually } from '../helpers/virtualTime.js';

// The recipes of docs/automation.md with templates of their own, in virtual time.

const terms = t.type({ seller: t.string, buyer: t.string, price: t.string });
const Sale = contractType('#market:Main:Sale', terms, {
  choices: { Deliver: { argument: t.type({}), result: t.string } },
});
const Delivery = contractType('#market:Main:Delivery', terms);
const Offer = contractType('#market:Main:Offer', terms, {
  choices: { Accept: { argument: t.type({}), result: t.string } },
});
const Coin = contractType('#coins:Main:Coin', t.type({ owner: t.string, amount: t.string, until: t.string }), {
  choices: {
    Merge: { argument: t.type({ others: t.array(t.string) }), result: t.string },
    Expire: { argument: t.type({}), result: t.type({}) },
  },
});
const both = ({ payload }: { readonly payload: t.TypeOf<typeof terms> }) => [payload.seller, payload.buyer];

const templates = [
  template(Offer, {
    signatories: ({ payload }) => [payload.seller],
    observers: ({ payload }) => [payload.buyer],
    choices: {
      Accept: {
        controllers: ({ payload }) => [payload.buyer],
        exercise: ({ payload }, _argument, ledger) => ledger.create(Sale, payload),
      },
    },
  }),
  template(Sale, {
    signatories: both,
    choices: {
      Deliver: {
        controllers: ({ payload }) => [payload.buyer],
        exercise: ({ payload }, _argument, ledger) => ledger.create(Delivery, payload),
      },
    },
  }),
  template(Delivery, { signatories: both }),
  template(Coin, {
    signatories: ({ payload }) => [payload.owner],
    ensure: ({ payload }) => Number(payload.amount) > 0,
    choices: {
      Merge: {
        controllers: ({ payload }) => [payload.owner],
        exercise: ({ payload }, { others }, ledger) => {
          const amounts = others.map((other) => Number(ledger.fetch(Coin, other).payload.amount));
          for (const other of others) ledger.archive(other);
          const sum = amounts.reduce((total, amount) => total + amount, Number(payload.amount));
          return ledger.create(Coin, { ...payload, amount: sum.toFixed(1) });
        },
      },
      Expire: {
        controllers: ({ payload }) => [payload.owner],
        exercise: ({ payload }, _argument, ledger) => {
          if (Date.parse(ledger.time) < Date.parse(payload.until)) throw new Error('too early');
          return {};
        },
      },
    },
  }),
];

/** A desk with its own ledger, and those with whom it deals. */
interface World {
  readonly sandbox: Sandbox;
  readonly desk: string;
  readonly seller: string;
  readonly connect: () => ReturnType<typeof createLedger>;
  readonly submit: (actAs: string, commands: readonly Command[]) => Observable<unknown>;
}

/** Plays a test in virtual time, and returns its sandbox. */
function play(test: (world: World) => void): Sandbox {
  const sandboxes: Sandbox[] = [];
  runVirtually(() => {
    const sandbox = createSandbox({ templates, latencyMs: 5 });
    const connect = () => createLedger({ baseUrl: sandbox.url, port: sandbox.port });
    const submit = (actAs: string, commands: readonly Command[]) =>
      connect().submitAndWaitForTransaction({ userId: 'app', actAs: [actAs], commands });
    test({ sandbox, desk: sandbox.hostedParty('desk'), seller: sandbox.hostedParty('seller'), connect, submit });
    sandboxes.push(sandbox);
  });
  const [played] = sandboxes;
  if (played === undefined) throw new Error('not played');
  return played;
}

/** The arguments of the contracts of a template that were created and not archived. */
function activeOf({ updates }: Sandbox, entity: string): readonly unknown[] {
  const active = new Map<string, unknown>();
  for (const update of updates)
    for (const event of 'Transaction' in update ? update.Transaction.value.events : []) {
      if (
        'CreatedEvent' in event &&
        event.CreatedEvent.acsDelta &&
        event.CreatedEvent.templateId.endsWith(`:${entity}`)
      )
        active.set(event.CreatedEvent.contractId, event.CreatedEvent.createArgument);
      if ('ArchivedEvent' in event) active.delete(event.ArchivedEvent.contractId);
    }
  return [...active.values()];
}

const acceptOffers = ({ connect, desk }: World): Observable<Acted> =>
  automate(connect(), {
    name: 'accept-offers',
    query: { types: { offer: Offer }, parties: [desk] },
    actAs: [desk],
    userId: 'app',
    where: ({ payload }) => Number(payload.price) <= 900,
    act: ({ contractId }) => exercise(Offer.Accept, contractId, {}),
  });

/** Makes offers, 100 in a transaction. */
const offers = ({ submit, desk, seller }: World, count: number): Observable<unknown> =>
  from(
    Array.from({ length: count }, (_, index) => create(Offer, { seller, buyer: desk, price: `${index + 1}.0` })),
  ).pipe(
    bufferCount(100),
    concatMap((commands) => submit(seller, commands)),
  );

describe('a rule on contracts of templates', () => {
  it('accepts a thousand offers once, over crashes, races and lost answers', () => {
    let acted = 0;
    const sandbox = play((world) => {
      offers(world, 1_000).subscribe();
      world.sandbox.configure({ contention: 0.01 });
      const path = '/v2/commands/submit-and-wait-for-transaction';
      for (const after of [50, 200, 400]) world.sandbox.fault({ kind: 'reset', when: 'after' }, { path, after });
      const runs = [700, 1_500, 120_000].map((ms) => acceptOffers(world).pipe(takeUntil(timer(ms))));
      concat(...runs).subscribe(() => (acted += 1));
    });
    const sold = activeOf(sandbox, 'Sale').map((payload) => Number(at(payload, 'price')));
    const left = activeOf(sandbox, 'Offer').map((payload) => Number(at(payload, 'price')));
    // a race may archive an offer for good
    expect(sold.length).toBeGreaterThan(880);
    expect(new Set(sold).size).toBe(sold.length);
    expect(left.every((price) => price > 900)).toBe(true);
    // a crash loses what the rule was about to report
    expect(acted).toBeGreaterThan(800);
  });

  it('acts at a time, which the contract proves', () => {
    const until = '1970-01-01T01:00:00Z';
    const sandbox = play(({ sandbox, connect, submit, desk }) => {
      submit(desk, [create(Coin, { owner: desk, amount: '1.0', until })]).subscribe();
      const rule = automate(connect(), {
        name: 'expire',
        query: { types: { coin: Coin }, parties: [desk] },
        actAs: [desk],
        userId: 'app',
        dueAt: ({ payload }) => new Date(payload.until),
        act: ({ contractId }) => exercise(Coin.Expire, contractId, {}),
      });
      const seen = observe(rule.pipe(takeUntil(timer(2 * 3_600_000))));
      timer(2 * 3_600_000).subscribe(() => {
        expect(seen.values.map(({ _tag }) => _tag)).toEqual(['Committed']);
        expect(sandbox.updates).toHaveLength(2);
      });
    });
    expect(activeOf(sandbox, 'Coin')).toEqual([]);
    const ended = textAt(sandbox.updates.at(-1), 'Transaction', 'value', 'recordTime');
    expect(Date.parse(ended) - Date.parse(until)).toBeLessThan(1_000);
  });

  it('merges coins, whatever comes meanwhile', () => {
    const sandbox = play(({ connect, submit, desk }) => {
      const coins = (...amounts: readonly string[]) =>
        submit(
          desk,
          amounts.map((amount) => create(Coin, { owner: desk, amount, until: '2999-01-01T00:00:00Z' })),
        );
      coins('1.0', '2.0', '3.0').subscribe();
      timer(3_000)
        .pipe(concatMap(() => coins('4.0', '5.0')))
        .subscribe();
      automate(connect(), {
        name: 'merge',
        query: { types: { coin: Coin }, parties: [desk] },
        actAs: [desk],
        userId: 'app',
        act: ({ contractId }, { contracts }) => {
          const [first, ...others] = contracts.toArray().map((coin) => coin.contractId);
          return others.length === 0 || first !== contractId ? undefined : exercise(Coin.Merge, contractId, { others });
        },
      })
        .pipe(takeUntil(timer(60_000)))
        .subscribe();
    });
    expect(activeOf(sandbox, 'Coin')).toMatchObject([{ amount: '15.0' }]);
  });

  it('continues a saga with the contract that another rule has made', () => {
    const order: unknown[] = [];
    const sandbox = play((world) => {
      const { connect, desk } = world;
      offers(world, 1).subscribe();
      offers(world, 100).subscribe();
      const deliver$ = automate(connect(), {
        name: 'deliver',
        query: { types: { sale: Sale }, parties: [desk] },
        actAs: [desk],
        userId: 'app',
        act: ({ contractId }) => exercise(Sale.Deliver, contractId, {}),
      });
      merge(
        acceptOffers(world).pipe(map(() => 'accepted')),
        timer(1_000).pipe(
          concatMap(() => deliver$),
          map(() => 'delivered'),
        ),
      )
        .pipe(takeUntil(timer(60_000)))
        .subscribe((step) => order.push([step, asyncScheduler.now()]));
    });
    expect(activeOf(sandbox, 'Sale')).toEqual([]);
    expect(activeOf(sandbox, 'Delivery')).toHaveLength(101);
    expect(order).toHaveLength(202);
  });
});
