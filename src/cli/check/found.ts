import { catchError, map, of, throwError, timeout, type Observable } from 'rxjs';
import { AskError } from '../probe/AskError.js';
import type { Finding } from './Finding.js';
import { finder } from './finder.js';
import { troubleOfError } from './troubleOfError.js';

/** What a check found, in a time; a failure of the check itself is a finding, too. */
export const found = (
  [id, label]: readonly [id: string, label: string],
  finding$: Observable<Finding | readonly Finding[]>,
  mostMs: number,
): Observable<readonly Finding[]> =>
  finding$.pipe(
    timeout({ each: mostMs, with: () => throwError(() => new AskError('TIMEOUT', true)) }),
    map((findings) => [findings].flat()),
    catchError((error: unknown) => of([finder(id, label).failed(troubleOfError(error))])),
  );
