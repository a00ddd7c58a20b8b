import { asyncScheduler, type Observable, type Subscription } from 'rxjs';

/** A record of a subscription. */
export interface Observed<A> {
  readonly values: A[];
  /** The time of each value, in milliseconds since the subscription. */
  readonly times: number[];
  error: unknown;
  completed: boolean;
  /** The time of the end, in milliseconds since the subscription. */
  endedAt: number | undefined;
  readonly subscription: Subscription;
}

/** Subscribes to an Observable and records it. */
export function observe<A>(source$: Observable<A>): Observed<A> {
  const start = asyncScheduler.now();
  const record = {
    values: [] as A[],
    times: [] as number[],
    error: undefined as unknown,
    completed: false,
    endedAt: undefined as number | undefined,
  };
  const end = (): void => {
    record.endedAt = asyncScheduler.now() - start;
  };
  const subscription = source$.subscribe({
    next: (value) => {
      record.values.push(value);
      record.times.push(asyncScheduler.now() - start);
    },
    error: (error: unknown) => {
      record.error = error;
      end();
    },
    complete: () => {
      record.completed = true;
      end();
    },
  });
  return Object.assign(record, { subscription });
}

/** The offsets of updates. */
export const offsets = (values: readonly { readonly offset: number }[]): number[] => values.map(({ offset }) => offset);
