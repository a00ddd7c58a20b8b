import { combineLatest, defer, lastValueFrom, map, startWith, takeWhile, tap, timeout, type Observable } from 'rxjs';
import type { Diagnostic } from '../../../src/diagnostics/Diagnostic.js';
import type { Update } from '../../../src/codecs/Update.js';
import type { Ledger } from '../../../src/ledger/Ledger.js';

/** What came of a feed. */
export interface Watched {
  readonly updates: Update[];
  readonly events: Diagnostic[];
  error: unknown;
}

/** How long nothing may come of a feed that has not seen enough. */
const patienceMs = 20_000;

/** Watches a feed until it ends, or until all has happened and it has seen enough of that. */
export async function watched(
  client: Ledger,
  feed$: Observable<Update>,
  happen: () => Promise<void>,
  isEnough: (seen: Watched) => boolean,
): Promise<Watched> {
  const seen: Watched = { updates: [], events: [], error: undefined };
  const listening = client.diagnostics$.subscribe((event) => seen.events.push(event));
  const watch$ = combineLatest([
    feed$.pipe(
      tap((update) => seen.updates.push(update)),
      startWith(undefined),
    ),
    client.diagnostics$.pipe(startWith(undefined)),
    defer(happen).pipe(
      map(() => true),
      startWith(false),
    ),
  ]).pipe(
    takeWhile(([, , hasHappened]) => !hasHappened || !isEnough(seen)),
    timeout({ each: patienceMs }),
  );
  await lastValueFrom(watch$, { defaultValue: undefined }).catch((error: unknown) => {
    seen.error = error;
  });
  listening.unsubscribe();
  return seen;
}
