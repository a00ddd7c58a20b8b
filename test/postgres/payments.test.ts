import { expect, it } from '@jest/globals';
import * as t from 'io-ts';
import {
  concatMap,
  asyncScheduler,
  type Observable,
  defer,
  EMPTY,
  catchError,
  filter,
  firstValueFrom,
  ignoreElements,
  merge,
  type SchedulerLike,
  take,
  tap,
  timer,
} from 'rxjs';
import { liveContracts } from '../../src/contracts/index.js';
import { createLedger } from '../../src/index.js';
import type { CommandOutbox, Decide, Submitted } from '../../src/postgres/index.js';
import type { Fault } from '../../src/sandbox/index.js';
import { sandboxRegistry, tokenTemplates } from '../../src/sandbox/tokens/index.js';
import {
  compareDecimals,
  groupTotals,
  Holding,
  holdingPicker,
  tokenCommands,
  totalOf,
} from '../../src/tokens/index.js';
import { effort } from '../helpers/effort.js';
import { describeWithPostgres } from '../helpers/postgresServer.js';
import { outboxes, soon, transactionPath } from './outboxSupport.js';
import { withDatabase } from './support.js';

const payments = effort(60, 1_000, 100);

const Payment = t.type({
  ...{ sender: t.string, receiver: t.string, amount: t.string },
  instrumentId: t.type({ admin: t.string, id: t.string }),
});

/** Faults that a participant has: lost answers, late commits, refusals that pass. */
const faults: readonly Fault[] = [
  { kind: 'reset' },
  { kind: 'commitLate', ms: 30 },
  { kind: 'commitLate', ms: 30, how: 'reset', before: 'registration' },
  { kind: 'reject', code: 'LOCAL_VERDICT_LOCKED_CONTRACTS' },
  { kind: 'reject', code: 'PARTICIPANT_BACKPRESSURE' },
  { kind: 'status', status: 503 },
];

/** The clock of the ledger: that of the machine, and what the test has let pass. */
let passedMs = 0;
const ahead: SchedulerLike = {
  now: () => asyncScheduler.now() + passedMs,
  schedule: asyncScheduler.schedule.bind(asyncScheduler),
};

/** After this time, a ledger accepts no attempt from before it. */
const decidedAfterMs = 130_000;

/** The amount of the payment with a number: each has another one. */
const amountOf = (n: number): string => `0.${String(n + 1).padStart(10, '0')}`;

describeWithPostgres('payments out of holdings', () => {
  const database = withDatabase();
  const world = outboxes(database);

  it(`lose and repeat none of ${payments}, under contention, faults and crashes (G86)`, async () => {
    const {
      sandbox,
      alice: shop,
      outbox,
      inTransaction,
    } = await world({ sandbox: { templates: [...tokenTemplates], ...{ scheduler: ahead } } });
    const [bank, customer] = [sandbox.hostedParty('bank'), sandbox.hostedParty('customer')];
    const registry = sandboxRegistry(sandbox, { admin: bank });
    const gold = { admin: bank, id: 'Gold' };
    await firstValueFrom(registry.preapprove(customer));
    await firstValueFrom(registry.mint(shop, 'Gold', ...Array.from({ length: 24 }, () => '1.0')));
    await firstValueFrom(registry.mint(shop, 'Silver', '1000.0'));
    const connect = () => createLedger({ baseUrl: sandbox.url, retry: { baseDelayMs: 5, maxDelayMs: 50 } });
    const types = { holding: Holding };
    const tokens = tokenCommands(registry.post);

    await inTransaction(async (tx) => {
      for (let n = 0; n < payments; n += 1) {
        const argument = { sender: shop, receiver: customer, amount: amountOf(n), instrumentId: gold };
        await outbox.enqueue(tx, { decide: 'pay', argument, actAs: [shop], userId: 'payments', commandId: `pay-${n}` });
      }
    });

    /** A process that pays. */
    const run = (paying: CommandOutbox): Observable<Submitted> =>
      defer(() => {
        const ledger = connect();
        const picker = holdingPicker();
        const holdings = liveContracts(ledger, { types, parties: [shop] });
        const pay: Decide = (argument, { commandId }) => {
          if (!Payment.is(argument)) throw new Error('this is not a payment');
          return holdings.all$().pipe(
            take(1),
            concatMap((all) => {
              const inputHoldingCids = picker.pick(all, { owner: shop, ...argument }, commandId);
              if (inputHoldingCids === undefined) throw new Error('not enough free holdings now');
              return tokens.transfer({ ...argument, inputHoldingCids });
            }),
          );
        };
        const submitted$ = paying.submitAll(ledger, { ...soon, decide: { pay }, concurrency: 16 });
        return merge(holdings.all$().pipe(ignoreElements()), submitted$);
      });

    /** Another program divides holdings of the shop in another way, and wins some races. */
    const rivalLedger = connect();
    const rivalView = liveContracts(rivalLedger, { types, parties: [shop] });
    let merges = 0;
    const merge$ = rivalView.all$().pipe(
      take(1),
      concatMap((all) => {
        const own = all.flatMap((each) => (each._tag === 'Contract' && each.payload.owner === shop ? [each] : []));
        const inputs = own
          .filter(({ payload }) => payload.instrumentId.id === 'Gold')
          .slice(merges % 8, (merges % 8) + 2);
        const total = totalOf(
          gold,
          inputs.map(({ payload }) => payload),
        );
        const inputHoldingCids = inputs.map(({ contractId }) => contractId);
        // two again, of other sizes
        const piece = compareDecimals(total, '0.5') > 0 ? '0.5' : total;
        return tokens.transfer({ sender: shop, receiver: shop, amount: piece, instrumentId: gold, inputHoldingCids });
      }),
      concatMap((made) => rivalLedger.submitAndWaitForTransaction({ userId: 'rival', actAs: [shop], ...made })),
      tap(() => (merges += 1)),
      catchError(() => EMPTY),
    );

    const counts: Record<string, number> = {};
    const started = performance.now();
    let outcomes = 0;
    const compete = (): void => {
      rival.add(merge$.subscribe());
    };
    let quietTicks = 0;
    let committed = 0;
    const isPaid = (): boolean => committed === payments;
    const rival = rivalView.all$().subscribe();
    let crashes = 0;
    while (!isPaid()) {
      const lives = Math.ceil(payments / 4) + 20;
      let seen = 0;
      const outcome$ = run(outbox).pipe(
        tap((outcome) => {
          counts[outcome._tag] = (counts[outcome._tag] ?? 0) + 1;
          outcomes += 1;
          quietTicks = 0;
          if (outcomes % 6 === 0) compete();
          if (outcome._tag === 'Committed') committed += 1;
          const fault = outcomes % 5 === 0 ? faults[(outcomes / 5) % faults.length] : undefined;
          if (fault !== undefined) sandbox.fault(fault, { path: transactionPath });
        }),
        filter(() => isPaid() || (seen += 1) >= lives),
        take(1),
      );
      // a crash may lose the outcome of a payment that is recorded
      const done$ = timer(200, 200).pipe(
        tap((ticks) => {
          if (ticks % 3 === 2) compete();
          // an attempt that a crash may have lost is undecided until the ledger would no longer accept it: it takes two minutes
          if ((quietTicks += 1) % 15 === 0) passedMs += decidedAfterMs;
        }),
        concatMap(() => database.read("SELECT FROM canton_rx_outbox WHERE state <> 'committed' LIMIT 1")),
        filter((open) => open.length === 0),
      );
      await firstValueFrom(merge(outcome$, done$));
      crashes += 1;
      // a crash loses outcomes that are recorded: the rows have the truth
      const [row] = await database.read("SELECT count(*)::int AS n FROM canton_rx_outbox WHERE state = 'committed'");
      committed = Number(row?.['n']);
    }
    rival.unsubscribe();
    const seconds = (performance.now() - started) / 1_000;

    const rows = await database.read('SELECT state, count(*)::int AS n FROM canton_rx_outbox GROUP BY state');
    expect(rows).toEqual([{ state: 'committed', n: payments }]);
    const ledger = connect();
    const holdingsOf = async (party: string) =>
      (await firstValueFrom(liveContracts(ledger, { types, parties: [party] }).all$())).flatMap(({ payload }) =>
        payload?.owner === party ? [payload] : [],
      );
    const received = await holdingsOf(customer);
    const paid = Array.from({ length: payments }, (_, n) => amountOf(n));
    expect(received.map(({ amount }) => String(amount)).toSorted()).toEqual(paid.toSorted());
    const all = [...received, ...(await holdingsOf(shop))];
    expect(groupTotals(all).map(({ instrumentId, amount }) => [instrumentId.id, amount])).toEqual([
      ['Gold', '24.0'],
      ['Silver', '1000.0'],
    ]);
    const attempts = sandbox.requests.filter(({ path }) => path === transactionPath).length;
    const figures = {
      payments,
      seconds: Number(seconds.toFixed(1)),
      crashes: crashes - 1,
      merges,
      attempts,
      ...counts,
    };
    console.log(`payments: ${JSON.stringify(figures)}`);
  }, 1_300_000);
});
