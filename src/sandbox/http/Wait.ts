import { defer, EMPTY, from, type Observable, repeat } from 'rxjs';

/**
 * Among the elements of a stream: the next one may not be there yet. So a stream is a generator, which a server runs at the
 * speed of its client, and {@link elementsOf} as fast as the time of the sandbox passes.
 */
export class Wait {
  /** @param until$ - emits when the next element may be there */
  constructor(readonly until$: Observable<unknown>) {}
}

/** Emits the elements of a stream, each as soon as it is there. */
export const elementsOf = <A extends object>(stream: Iterable<A | Wait>): Observable<A> =>
  defer(() => {
    const steps = stream[Symbol.iterator]();
    let until$: Observable<unknown> = EMPTY;
    // without another wait, the repetition ends
    return defer(() => from(ready())).pipe(repeat({ delay: () => until$ }));

    /** The elements until the next wait. */
    function* ready(): Generator<A, void> {
      until$ = EMPTY;
      for (let step = steps.next(); step.done !== true; step = steps.next()) {
        if (step.value instanceof Wait) {
          ({ until$ } = step.value);
          return;
        }
        yield step.value;
      }
    }
  });
