import { acsDelta, createLedger } from '../../../../src/index.js';
import { finalize, firstValueFrom, type Observable } from 'rxjs';

/** A subscriber of the platform's Observable, and of that of RxJS 9. */
interface PlatformSubscriber<A> {
  next(value: A): void;
  error(error: unknown): void;
  complete(): void;
  addTeardown(teardown: () => void): void;
}

/** The platform's Observable, as far as a program needs it here. */
interface PlatformObservable<A> {
  subscribe(observer: Partial<Omit<PlatformSubscriber<A>, 'addTeardown'>>, options?: object): void;
}

/** A constructor of the platform, or of RxJS 9. */
export type PlatformConstructor = new <A>(start: (subscriber: PlatformSubscriber<A>) => void) => PlatformObservable<A>;

/** What a program sees of a feed as a platform's Observable. */
export interface Seen {
  /** The number of updates up to the ledger end. */
  readonly read: number;
  /** Whether the last one is at the ledger end. */
  readonly isWhole: boolean;
  /** Whether the feed has ended after an abort. */
  readonly isEnded: boolean;
}

/** Reads a feed as the Observable of the platform. */
export async function readOnPlatform(Platform: PlatformConstructor, url: string): Promise<Seen> {
  const toPlatform = <A>(source: Observable<A>): PlatformObservable<A> =>
    new Platform<A>((subscriber) => {
      const subscription = source.subscribe({
        next: (value) => {
          subscriber.next(value);
        },
        error: (error: unknown) => {
          subscriber.error(error);
        },
        complete: () => {
          subscriber.complete();
        },
      });
      subscriber.addTeardown(() => {
        subscription.unsubscribe();
      });
    });
  const ledger = createLedger({ baseUrl: url });
  const end = await firstValueFrom(ledger.ledgerEnd());
  const request = { beginExclusive: 0, updateFormat: acsDelta({ parties: 'any' }) };
  const read = await all(toPlatform(ledger.updates({ ...request, endInclusive: end })));
  let isEnded = false;
  const endless$ = ledger.updates(request).pipe(
    finalize(() => {
      isEnded = true;
    }),
  );
  const controller = new AbortController();
  await new Promise<void>((resolve, reject) => {
    const next = (): void => {
      resolve();
    };
    const observer = { next, error: reject };
    toPlatform(endless$).subscribe(observer, { signal: controller.signal });
  });
  controller.abort();
  return { read: read.length, isWhole: read.at(-1)?.offset === end, isEnded };
}

/** The values of an Observable until it completes. */
const all = <A>(source: PlatformObservable<A>): Promise<readonly A[]> =>
  new Promise((resolve, reject) => {
    const values: A[] = [];
    const complete = (): void => {
      resolve(values);
    };
    source.subscribe({ next: (value) => values.push(value), error: reject, complete });
  });
