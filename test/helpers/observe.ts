import { asyncScheduler, type Observable, type Subscription } from 'rxjs';

/** What has come of a subscription so far. */
export interface Observed<A> {
  readonly values: A[];
  /** When each value came, in milliseconds from the subscription. */
  readonly times: number[];
  error: unknown;
  completed: boolean;
  /** When it ended, in milliseconds from the subscription. */
  endedAt: number | undefined;
  readonly subscription: Subscription;
}

/** Subscribes and records. */
export function observe<A>(source$: Observable<A>): Observed<A> {
  const start = asyncScheduler.now();
  const seen = {
    values: [] as A[],
    times: [] as number[],
    error: undefined as unknown,
    completed: false,
    endedAt: undefined as number | undefined,
  };
  const end = (): void => {
    seen.endedAt = asyncScheduler.now() - start;
  };
  const subscription = source$.subscribe({
    next: (value) => {
      seen.values.push(value);
      seen.times.push(asyncScheduler.now() - start);
    },
    error: (error: unknown) => {
      seen.error = error;
      end();
    },
    complete: () => {
      seen.completed = true;
      end();
    },
  });
  return Object.assign(seen, { subscription });
}

/** The offsets of updates. */
export const offsets = (values: readonly { readonly offset: number }[]): number[] => values.map(({ offset }) => offset);
