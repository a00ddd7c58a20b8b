import { catchError, forkJoin, map, of, type Observable } from 'rxjs';
import type { Answer } from '../probe/Answer.js';
import type { Finding } from './Finding.js';
import { finder } from './finder.js';
import type { Probe } from './Probe.js';

const submission = ['/v2/interactive-submission/prepare', '/v2/interactive-submission/executeAndWaitForTransaction'];
const others = [
  '/v2/updates/update-by-id',
  '/v2/updates/update-by-offset',
  '/v2/updates/update-by-hash',
  '/v2/updates/get-updates-page',
  '/v2/state/active-contracts',
  '/v2/events/events-by-contract-id',
  '/v2/commands/completions',
];

type Presence = Readonly<Record<string, boolean | undefined>>;

const submitting = finder('submission', 'submission');
const optional = finder('endpoints', 'endpoints');

/**
 * Which endpoints that not every release has are there. All are served by POST alone, and are asked by GET: one that is
 * there answers that this is the wrong method, and does nothing.
 */
export const checkEndpoints = ({ ask }: Probe): Observable<readonly Finding[]> => {
  const presence = (paths: readonly string[]): Observable<Presence> =>
    forkJoin(
      Object.fromEntries(
        paths.map((path) => [
          path,
          ask({ method: 'GET', path }).pipe(
            map(isThere),
            catchError(() => of(undefined)),
          ),
        ]),
      ),
    );
  return forkJoin([presence(submission), presence(others)]).pipe(
    map(([ofSubmission, ofOthers]) => [
      Object.values(ofSubmission).every((isServed) => isServed === true)
        ? submitting.ok('prepare and executeAndWaitForTransaction are served', ofSubmission)
        : submitting.open(textOf(ofSubmission), ofSubmission),
      Object.values(ofOthers).includes(true)
        ? optional.ok(textOf(ofOthers), ofOthers)
        : optional.open(textOf(ofOthers), ofOthers),
    ]),
  );
};

/** Not known where somebody before the participant answers. */
function isThere({ status }: Answer): boolean | undefined {
  if (status === 404 || status === 501) return false;
  return [400, 405, 415, 426].includes(status) ? true : undefined;
}

function textOf(presence: Presence): string {
  const named = (wanted: boolean | undefined): string =>
    Object.entries(presence)
      .filter(([, isServed]) => isServed === wanted)
      .map(([path]) => path.split('/').at(-1))
      .join(', ');
  const parts = [
    [named(true), ''],
    [named(false), 'not there: '],
    [named(undefined), 'not found out: '],
  ] as const;
  return parts
    .filter(([names]) => names !== '')
    .map(([names, prefix]) => `${prefix}${names}`)
    .join('; ');
}
