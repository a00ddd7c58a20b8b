import { setTimeout as sleep } from 'node:timers/promises';
import { filter, firstValueFrom, type Observable, Subscription, tap, timeout } from 'rxjs';
import { expect } from '@jest/globals';
import { liveContracts } from '../../../src/contracts/index.js';
import type { Ledger } from '../../../src/ledger/Ledger.js';
import { processFeed, updatesFeed } from '../../../src/process/index.js';
import { contractsAt, party, updateFormat, updatesBetween } from './writing.js';

/** How long readers may need for the last update, in milliseconds. */
const withinMs = 90_000;

/** A feed, a processor and a live view of one ledger, from its present end on. */
export class Readers {
  readonly #subscription = new Subscription();
  readonly #fromFeed: string[] = [];
  readonly #handled: string[] = [];
  readonly #failures: unknown[] = [];
  readonly #view;

  constructor(
    ledger: Ledger,
    private readonly begin: number,
  ) {
    const request = { beginExclusive: begin, updateFormat };
    const updateIds = (ids: string[]) => (update: { readonly _tag: string; readonly updateId?: string }) => {
      if (update.updateId !== undefined) ids.push(update.updateId);
    };
    this.#view = liveContracts(ledger, { parties: [party] });
    this.#run(ledger.updates(request).pipe(tap(updateIds(this.#fromFeed))));
    this.#run(processFeed(updatesFeed(ledger, request), updateIds(this.#handled)));
    this.#run(this.#view.state$);
  }

  /** Waits until the view is live, and so has read all that there was. */
  async live(): Promise<void> {
    await firstValueFrom(this.#view.state$.pipe(filter(({ data }) => data === 'live')));
  }

  /** Waits for the ledger end, and compares everything that was read with what the participant has. */
  async compare(end: number): Promise<void> {
    const expected = (await updatesBetween(this.begin, end)).flatMap((update) =>
      'updateId' in update ? [update.updateId] : [],
    );
    const until = Date.now() + withinMs;
    const isDone = (ids: readonly string[]): boolean => ids.length >= expected.length;
    const goesOn = (): boolean => this.#failures.length === 0 && Date.now() < until;
    while (!(isDone(this.#fromFeed) && isDone(this.#handled)) && goesOn()) await sleep(50);
    expect(this.#failures).toEqual([]);
    expect(this.#fromFeed).toEqual(expected);
    expect(this.#handled).toEqual(expected);
    const { contracts, offset } = await firstValueFrom(
      this.#view.state$.pipe(
        filter((state) => state.data === 'live'),
        filter((state) => state.offset >= end),
        timeout(withinMs),
      ),
    );
    expect([...contracts].map(({ contractId }) => contractId).sort()).toEqual(await contractsAt(offset));
  }

  close(): void {
    this.#subscription.unsubscribe();
  }

  #run(source: Observable<unknown>): void {
    const fail = (error: unknown): void => void this.#failures.push(error);
    this.#subscription.add(source.subscribe({ error: fail }));
  }
}
