import * as fc from 'fast-check';
import { map, type Observable, takeUntil, timer } from 'rxjs';
import type { Diagnostic, Ledger, LedgerOptions } from '../../src/index.js';
import { memoryStore, processFeed, updatesFeed } from '../../src/process/index.js';
import { observe } from '../helpers/observe.js';
import { marbles } from '../helpers/time.js';
import { errorBody, errorReply } from '../helpers/wire.js';
import { fill, updateFormat, upTo, world } from '../helpers/world.js';

/** A feed or a processor, and the behaviour of its service. */
export interface Scenario {
  readonly method: 'updates' | 'process';
  readonly updates: number;
  readonly latencyMs: number;
  readonly maxPageSize: number;
  readonly maxListElements: number;
  /** The numbers of the requests that fail. */
  readonly failingRequests: readonly number[];
  /** The offsets of the updates for which the handler fails once. */
  readonly poisonOffsets: readonly number[];
  readonly unsubscribeAfterMs: number;
}

export const scenarios: fc.Arbitrary<Scenario> = fc.record({
  method: fc.constantFrom('updates', 'process'),
  updates: fc.integer({ min: 0, max: 60 }),
  latencyMs: fc.integer({ min: 1, max: 50 }),
  maxPageSize: fc.integer({ min: 1, max: 30 }),
  maxListElements: fc.integer({ min: 2, max: 30 }),
  failingRequests: fc.array(fc.integer({ min: 1, max: 15 }), { maxLength: 6 }),
  poisonOffsets: fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 3 }),
  unsubscribeAfterMs: fc.integer({ min: 10, max: 8_000 }),
});

/** Plays a scenario in virtual time. Returns what the ledger emits and when, its diagnostics, and its requests. */
export function play(create: (options: LedgerOptions) => Ledger, scenario: Scenario): unknown {
  const { method, updates, latencyMs, maxPageSize, maxListElements } = scenario;
  const { failingRequests, poisonOffsets, unsubscribeAfterMs } = scenario;
  let result: unknown;
  marbles(({ flush }) => {
    const { ledger, service } = world({
      latencyMs,
      maxListElements,
      participantId: 'participant1::1220ab',
      fault: (_, count) =>
        failingRequests.includes(count) ? errorReply(503, errorBody('SERVICE_NOT_RUNNING', 1)) : undefined,
    });
    fill(ledger, ...upTo(updates));
    timer(3_000).subscribe(() => {
      fill(ledger, ...upTo(5).map((n) => updates + n));
    });
    const client = create({ baseUrl: 'http://ledger.example', port: service.port });
    const diagnostics: Diagnostic[] = [];
    const diagnosing = client.diagnostics$.subscribe((event) => diagnostics.push(event));
    const failedOnce = new Set<number>();
    const handled: number[] = [];
    const handle = ({ offset }: { readonly offset: number }) =>
      timer(3).pipe(
        map(() => {
          if (poisonOffsets.includes(offset) && !failedOnce.has(offset)) {
            failedOnce.add(offset);
            throw new Error('the handler failed');
          }
          return handled.push(offset);
        }),
      );
    const request = { beginExclusive: 0, updateFormat };
    const source$: Observable<unknown> =
      method === 'updates'
        ? client.updates(request, { maxPageSize })
        : processFeed(updatesFeed(client, request, { maxPageSize }), handle, {
            name: 'balances',
            store: memoryStore(),
          });
    const seen = observe(source$.pipe(takeUntil(timer(unsubscribeAfterMs))));
    flush();
    diagnosing.unsubscribe();
    const { values, times, error, completed } = seen;
    const { requests, aborted, open } = service;
    result = { values, times, error, completed, handled, requests, aborted: aborted.length, open, diagnostics };
  });
  return result;
}
