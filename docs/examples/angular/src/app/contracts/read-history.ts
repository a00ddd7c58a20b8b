import { isLedgerError, isTransient, type Ledger, ledgerEffects, type Update, type UpdateFormat } from 'canton-rx';
import {
  catchError,
  concat,
  concatMap,
  defer,
  EMPTY,
  endWith,
  filter,
  map,
  type Observable,
  of,
  retry,
  scan,
  startWith,
  takeWhile,
  throwError,
  timer,
} from 'rxjs';
import { type ShownEvent, shownEvents } from '../detail/shown-event';
import type { ContractRow } from './contract-row';

/** The events of a contract, in the order of the ledger, as far as they were read. */
export interface History {
  readonly events: readonly ShownEvent[];
  readonly isReading: boolean;
  /** Why its beginning is missing. */
  readonly gap?: string;
}

/**
 * Reads the history of a contract from the updates of its template: from its last activation to the end of the ledger, and
 * then backward to its creation, if it was moved since.
 */
export function readHistory(ledger: Ledger, row: ContractRow, parties: readonly string[] | 'any'): Observable<History> {
  const { contractId, offset, template, contract } = row;
  const updateFormat = ledgerEffects({ parties, templates: [`#${template}`], topology: false });
  const later$ = ledger
    .ledgerEnd()
    .pipe(retry({ delay: whenItAnswers }))
    .pipe(concatMap((end) => forward(ledger, { beginExclusive: offset - 1, endInclusive: end, updateFormat })));
  const earlier$ = contract.reassignmentCounter > 0 ? backward(ledger, offset - 1, updateFormat) : EMPTY;
  const isOurs = (event: ShownEvent): boolean => event.contractId === contractId;
  const wanted = (step: Step): readonly ShownEvent[] => ('gap' in step ? [] : shownEvents(step).filter(isOurs));
  return concat(
    later$,
    earlier$.pipe(takeWhile((step) => !wanted(step).some(({ effect }) => effect.kind === 'created'), true)),
  ).pipe(
    filter((step) => 'gap' in step || wanted(step).length > 0),
    scan((history: History, step): History => {
      if ('gap' in step) return { ...history, gap: step.gap };
      const events = wanted(step);
      const isEarlier = step.offset < offset;
      return { ...history, events: isEarlier ? [...events, ...history.events] : [...history.events, ...events] };
    }, reading),
    startWith(reading),
    // the last one again, when all is read
    endWith(undefined),
    scan((last: History, now): History => (now === undefined ? { ...last, isReading: false } : now), reading),
  );
}

const reading: History = { events: [], isReading: true };

type Step = Update | { readonly gap: string };

interface Range {
  readonly beginExclusive: number;
  readonly endInclusive: number;
  readonly updateFormat: UpdateFormat;
}

const isEvent = (update: Update): boolean => update._tag !== 'OffsetCheckpoint';

/** The updates of a range, or what is left of it where the ledger was pruned. */
const forward = (ledger: Ledger, range: Range): Observable<Step> =>
  ledger.updates(range).pipe(
    filter(isEvent),
    catchError((error: unknown) => {
      const earliest = isLedgerError(error, 'PrunedError') ? error.earliestOffset : undefined;
      if (earliest === undefined || earliest <= range.beginExclusive) throw error;
      const rest$ = earliest < range.endInclusive ? forward(ledger, { ...range, beginExclusive: earliest }) : EMPTY;
      return concat(of(prunedUpTo(earliest)), rest$);
    }),
  );

/** The updates up to an offset, the last one first. */
const backward = (ledger: Ledger, endInclusive: number, updateFormat: UpdateFormat, floor = 0): Observable<Step> =>
  defer(() => {
    if (floor >= endInclusive) return EMPTY;
    const request = { beginExclusive: floor, endInclusive, descendingOrder: true, updateFormat };
    return ledger.updates(request, { maxPageSize: 500 }).pipe(
      filter(isEvent),
      catchError((error: unknown): Observable<Step> => {
        if (isLedgerError(error, 'OrderError'))
          return of({ gap: 'Its earlier events can be read from Canton 3.5 on.' });
        const earliest = isLedgerError(error, 'PrunedError') ? error.earliestOffset : undefined;
        if (earliest === undefined || earliest <= floor) throw error;
        return concat(of(prunedUpTo(earliest)), backward(ledger, endInclusive, updateFormat, earliest));
      }),
    );
  });

/** Retries a single request, which the library does not retry by itself, unlike a feed. */
const whenItAnswers = (error: unknown): Observable<unknown> =>
  isLedgerError(error) && isTransient(error) ? timer(1_000) : throwError(() => error);

const prunedUpTo = (offset: number): Step => ({ gap: `Events up to offset ${offset} have been pruned.` });
