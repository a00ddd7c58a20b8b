import { timer, using, type MonoTypeOperatorFunction } from 'rxjs';

/** The longest that a timer of the platform takes. */
const longestMs = 2 ** 31 - 1;

/** A task of the zone in which it is subscribed, for as long as the source takes: it may itself run elsewhere. */
export const waitedFor =
  <A>(): MonoTypeOperatorFunction<A> =>
  (source) =>
    using(
      () => timer(longestMs).subscribe(),
      () => source,
    );
