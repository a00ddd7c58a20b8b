import { context, type Context } from '@opentelemetry/api';
import { Observable, type MonoTypeOperatorFunction } from 'rxjs';

/**
 * Subscribes to a source in one context, and hands on what comes of it in another: what continues from there, perhaps
 * much later, is not to find itself in the span of a request that is over.
 */
export const inContext =
  <A>(inner: Context, outer: Context): MonoTypeOperatorFunction<A> =>
  (source) =>
    new Observable((subscriber) =>
      context.with(inner, () =>
        source.subscribe({
          next: (value) => {
            context.with(outer, () => {
              subscriber.next(value);
            });
          },
          error: (error: unknown) => {
            context.with(outer, () => {
              subscriber.error(error);
            });
          },
          complete: () => {
            context.with(outer, () => {
              subscriber.complete();
            });
          },
        }),
      ),
    );
