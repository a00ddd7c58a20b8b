import { inject, Injectable } from '@angular/core';
import { toSignal } from '@angular/core/rxjs-interop';
import { catchError, forkJoin, from, map, type Observable, of, switchMap } from 'rxjs';
import { fromFetch } from 'rxjs/fetch';
import { CONNECTION } from './connection';

/**
 * The named parties that the participant hosts on no synchronizer. Without them, a ledger looks as if it had no updates:
 * an unknown party is no error there.
 */
@Injectable()
export class UnknownParties {
  readonly #connection = inject(CONNECTION);
  readonly parties = toSignal(this.#unknown(), { initialValue: [] });

  #unknown(): Observable<readonly string[]> {
    const { parties } = this.#connection;
    if (parties === 'any') return of([]);
    return this.#synchronizers('').pipe(
      // one that is not connected to any does not say which parties it has
      switchMap((connected) => (connected === 0 ? of([]) : forkJoin(parties.map((party) => this.#hosting(party))))),
      map((hosting) => parties.filter((_, at) => hosting[at] === 0)),
      catchError(() => of([])),
    );
  }

  readonly #hosting = (party: string): Observable<number> => this.#synchronizers(`?party=${encodeURIComponent(party)}`);

  /** The number of synchronizers. */
  #synchronizers(query: string): Observable<number> {
    const { baseUrl, token } = this.#connection;
    const headers: HeadersInit = token === undefined ? {} : { authorization: `Bearer ${token}` };
    return fromFetch(`${baseUrl}/v2/state/connected-synchronizers${query}`, { headers }).pipe(
      switchMap((response) => from(response.json() as Promise<{ connectedSynchronizers: readonly unknown[] }>)),
      map(({ connectedSynchronizers }) => connectedSynchronizers.length),
    );
  }
}
