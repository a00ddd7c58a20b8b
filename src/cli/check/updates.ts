import { forkJoin, map, type Observable, of } from 'rxjs';
import { probe, type ProbeResponse } from '../probe.js';
import { type Finding, type FindingBuilder, findings, needsToken } from './Finding.js';
import {
  type Basics,
  cantonErrorCode,
  isTokenRefused,
  lacksEndpoint,
  type Outcome,
  type Probe,
  updatesBody,
  troubleOfError,
  troubleOfResponse,
} from './Probe.js';

const updates = findings('updates', 'updates');

const flatsPath = '/v2/updates/flats';

const updatesPath = '/v2/updates';

/** The finding, and the path that serves updates if there is one. */
interface UpdatesCheck {
  readonly finding: Finding;
  readonly path?: string;
}

/** Which of the two paths serves updates, and whether the user may read them. */
export function checkUpdates({ connection, parties }: Probe, basics: Basics): Observable<UpdatesCheck> {
  const { endOffset = 0 } = basics;
  const body = updatesBody(parties, { beginExclusive: endOffset });
  const requestAt = (path: string): Observable<ProbeResponse> =>
    probe(connection, { method: 'POST', path: `${path}?limit=1&stream_idle_timeout_ms=50`, body });
  return forkJoin([requestAt(flatsPath), requestAt(updatesPath)]).pipe(
    map(([fromFlats, fromUpdates]) => {
      const [servesFlats, servesUpdates] = [isServed(fromFlats), isServed(fromUpdates)];
      const data = { [flatsPath]: servesFlats, [updatesPath]: servesUpdates };
      if (servesFlats) {
        const text = `at ${flatsPath}, which feeds try first${servesUpdates ? `; also at ${updatesPath}` : ''}`;
        return { path: flatsPath, finding: updates.ok(text, data) };
      }
      const reason = cantonErrorCode(fromFlats.text) === 'DEPRECATED_API_DISABLED' ? 'disabled' : 'missing';
      if (servesUpdates)
        return { path: updatesPath, finding: updates.ok(`at ${updatesPath}; ${flatsPath} is ${reason}`, data) };
      // the check of the token reports it
      if (isTokenRefused(basics) && fromUpdates.status === 401) return { finding: updates.open(needsToken) };
      if (fromFlats.status === 404 && fromUpdates.status === 404) return { finding: updates.failed(notServed, data) };
      return { finding: updates.failed(refusal(fromUpdates, parties === 'any'), data) };
    }),
  );
}

/** The error for a pruned offset, too, shows that the path is served. */
const isServed = ({ status, text }: ProbeResponse): boolean =>
  status === 200 ? text.trimStart().startsWith('[') : cantonErrorCode(text) === 'PARTICIPANT_PRUNED_DATA_ACCESSED';

/** A ledger answers 404 both below a wrong prefix and at a path that it lacks. */
const notServed = {
  kind: 'foreign',
  text: `not served at ${flatsPath} or ${updatesPath} (404)`,
  next: 'check the path prefix of --ledger: it ends before /v2',
} as const;

function refusal(response: ProbeResponse, isAnyParty: boolean) {
  if (response.status !== 403)
    return troubleOfResponse(response) ?? ({ kind: 'other', text: 'the response is not a list' } as const);
  return {
    kind: 'token',
    text: `the user of the token may not read as ${isAnyParty ? 'any party' : 'these parties'} (403)`,
    next: isAnyParty ? 'choose a party with --party PARTY' : 'grant CanReadAs for these parties to the user',
  } as const;
}

const end = findings('ledgerEnd', 'ledger end');

const pruned = findings('pruned', 'pruned');

/** The range of offsets that can be read. */
export function checkOffsets({ endOffset, ledgerEnd, prunedOffset, prunedOffsets }: Basics): readonly Finding[] {
  return [
    endOffset === undefined
      ? missingOffset(end, ledgerEnd, 'not reported: feeds work without it')
      : end.ok(`offset ${endOffset}`, { offset: endOffset }),
    prunedOffset === undefined
      ? missingOffset(pruned, prunedOffsets, 'not reported')
      : pruned.ok(prunedText(prunedOffset), { upToInclusive: prunedOffset }),
  ];
}

function missingOffset({ open, failed }: FindingBuilder, outcome: Outcome, notReported: string): Finding {
  if ('error' in outcome) return failed(troubleOfError(outcome.error));
  if (lacksEndpoint(outcome.response)) return open(notReported);
  const trouble = troubleOfResponse(outcome.response) ?? { kind: 'other', text: 'the response has no offset' };
  // the check of the token reports it
  return trouble.kind === 'token' ? open(needsToken) : failed(trouble);
}

const prunedText = (offset: number): string =>
  offset === 0 ? 'never: all updates are available' : `up to offset ${offset}: the earliest start is --from ${offset}`;

const pageLimit = findings('pageLimit', 'page limit');

const usualLimit = 200;

/** How many of the last offsets to read: enough to exceed the usual limit, and no more than two pages. */
const lastOffsets = 2 * usualLimit;

/** How many updates fit in one response. A service refuses a larger page and names its limit. */
export function checkPageLimit(
  { connection, parties }: Probe,
  basics: Basics,
  path: string | undefined,
): Observable<Finding> {
  const { endOffset, prunedOffset = 0 } = basics;
  if (isTokenRefused(basics)) return of(pageLimit.open(needsToken));
  if (path === undefined || endOffset === undefined) return of(pageLimit.open('unknown'));
  if (endOffset <= prunedOffset) return of(pageLimit.open('unknown: the ledger is empty'));
  const range = { beginExclusive: Math.max(prunedOffset, endOffset - lastOffsets), endInclusive: endOffset };
  return probe(connection, {
    method: 'POST',
    path: `${path}?limit=${lastOffsets * 10}`,
    body: updatesBody(parties, range),
  }).pipe(map(pageLimitFinding));
}

function pageLimitFinding(response: ProbeResponse): Finding {
  const { status, text } = response;
  if (status === 413) {
    const named = /limit \((\d+)\)/.exec(text)?.[1];
    if (named === undefined) return pageLimit.ok(`less than ${lastOffsets}: feeds find the limit themselves`);
    const limit = Number(named);
    return pageLimit.ok(`${limit} updates per response${limit < usualLimit ? ': feeds adapt to it' : ''}`, { limit });
  }
  const trouble = troubleOfResponse(response);
  if (trouble !== undefined) return pageLimit.failed(trouble);
  const list: unknown = JSON.parse(text);
  const atLeast = Array.isArray(list) ? list.length : 0;
  if (atLeast > usualLimit) return pageLimit.ok(`at least ${atLeast} updates per response`, { atLeast });
  return pageLimit.open(`unknown: the last ${lastOffsets} offsets have only ${atLeast} updates`, { atLeast });
}
