import * as t from 'io-ts';
import { catchError, forkJoin, map, type Observable, of, switchMap } from 'rxjs';
import { UpdateElement } from '../../codecs/Update.js';
import { type Answer, jsonIn, participantId } from '../probe/ask.js';
import { plain } from '../terminal.js';
import { finder, type Finding, type First, isUntold, type Probe, shortened, updatesBody } from './Finding.js';
import { troubleOfAnswer, troubleOfError } from './trouble.js';

const { ok, open, failed } = finder('version', 'version');

/** Which release the participant is of. A gateway may want the token even for that. */
export function checkVersion({ ask, connection }: Probe, { version }: First): Observable<Finding> {
  if ('error' in version) return of(failed(troubleOfError(version.error)));
  const { answer } = version;
  const isRefused = [401, 403].includes(answer.status) && connection.token !== undefined;
  return (isRefused ? ask({ method: 'GET', path: '/v2/version' }) : of(answer)).pipe(map(told));
}

const Version = t.type({ version: t.string });

function told(answer: Answer): Finding {
  const version = jsonIn(answer, Version)?.version;
  if (version !== undefined) return ok(plain(version).slice(0, 60), { version });
  if (isUntold(answer)) return open('not told');
  return failed(troubleOfAnswer(answer) ?? { kind: 'other', text: 'the answer has no version in it' });
}

const { ok: okCheckParticipant, open: openCheckParticipant } = finder('participant', 'participant');

/** Which participant it is. */
export const checkParticipant = ({ ask }: Probe): Observable<Finding> =>
  participantId(ask).pipe(
    map((id) => (id === undefined ? openCheckParticipant('not told') : okCheckParticipant(shortened(id), { id }))),
  );

const Connected = t.type({ connectedSynchronizers: t.array(t.type({ synchronizerId: t.string })) });

/** Which synchronizers the participant is connected to; where it does not tell, of which the last updates are. */
export const checkSynchronizers = (probe: Probe, first: First, path: string | undefined): Observable<Finding> =>
  probe.ask({ method: 'GET', path: '/v2/state/connected-synchronizers' }).pipe(
    map((answer) => jsonIn(answer, Connected)?.connectedSynchronizers.map(({ synchronizerId }) => synchronizerId)),
    catchError(() => of(undefined)),
    switchMap((connected) =>
      connected === undefined ? seen(probe, first, path) : of(toldCheckSynchronizers(connected, 'connected')),
    ),
  );

const { ok: okCheckSynchronizers, open: openCheckSynchronizers } = finder('synchronizers', 'synchronizers');

const reach = 50;

const Updates = t.array(UpdateElement);

function seen(
  { ask, parties }: Probe,
  { endOffset = 0, prunedOffset = 0 }: First,
  path: string | undefined,
): Observable<Finding> {
  if (path === undefined || endOffset <= prunedOffset) return of(openCheckSynchronizers('not told'));
  const range = { beginExclusive: Math.max(prunedOffset, endOffset - reach), endInclusive: endOffset };
  return ask({ method: 'POST', path: `${path}?limit=${reach}`, body: updatesBody(parties, range) }).pipe(
    map((answer) => {
      const ids = (jsonIn(answer, Updates) ?? []).flatMap((update) =>
        'synchronizerId' in update ? [update.synchronizerId] : [],
      );
      return toldCheckSynchronizers([...new Set(ids)], `seen in the last ${reach} offsets`);
    }),
  );
}

function toldCheckSynchronizers(ids: readonly string[], how: string): Finding {
  const data = { how, ids };
  if (ids.length === 0) return openCheckSynchronizers(`none ${how}`, data);
  return okCheckSynchronizers(
    `${ids.length} ${how}: ${ids.slice(0, 5).map(shortened).join(', ')}${ids.length > 5 ? ', …' : ''}`,
    data,
  );
}

type Presence = Readonly<Record<string, boolean | undefined>>;

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
