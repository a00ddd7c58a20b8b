import * as t from 'io-ts';
import { defer, forkJoin, map, type Observable, of } from 'rxjs';
import { decodeJson, parseJson, probe, type ProbeResponse, tokenOf } from '../participant.js';
import { formatDuration } from '../terminal.js';
import { type Finding, type FindingBuilder, findings, needsToken } from './Finding.js';
import {
  type Basics,
  cantonErrorCode,
  isTokenRefused,
  isUserRefused,
  lacksEndpoint,
  type Outcome,
  type Probe,
  troubleOfError,
  troubleOfResponse,
  updatesBody,
} from './Probe.js';
import { releaseIn } from './service.js';

const token = findings('token');

const noLedgerEnd = token.open('unknown: the participant does not report the ledger end');

/** Whether the participant accepts the token, and when the token expires. Reports nothing else of the token. */
export const checkToken = (probe: Probe, basics: Basics): Observable<Finding> =>
  defer(() => {
    const { ledgerEnd } = basics;
    return 'error' in ledgerEnd ? of(noLedgerEnd) : tokenFinding(probe, ledgerEnd.response, basics);
  });

function tokenFinding({ connection }: Probe, response: ProbeResponse, basics: Basics): Observable<Finding> {
  const value = tokenOf(connection);
  const { status } = response;
  if (value === undefined) return of(missingTokenFinding(response));
  const claims = readClaims(value);
  const exp = claims?.exp;
  const data = { isGiven: true, isAccepted: status === 200, ...(exp !== undefined && { expiresAt: toIsoTime(exp) }) };
  if (status === 401)
    return of(token.failed({ kind: 'token', text: 'token refused (401)', next: refusalAdvice(claims, basics) }, data));
  if (status !== 200) return of(otherFinding(response));
  return probe(connection, { method: 'GET', path: '/v2/state/ledger-end', isAnonymous: true }).pipe(
    map((anonymous) => {
      const isNeeded = anonymous.status !== 200;
      const accepted = isNeeded ? 'accepted' : 'not needed: the participant accepts requests without a token';
      const text = `${accepted}, ${expiryText(exp)}`;
      return isNeeded && claims !== undefined && !hasAudience(claims)
        ? token.warned({ text: `${text}, has no audience (aud)`, next: audienceAdvice }, { ...data, isNeeded })
        : token.ok(text, { ...data, isNeeded });
    }),
  );
}

function missingTokenFinding(response: ProbeResponse): Finding {
  if (response.status === 200) return token.ok('none given, none needed', { isGiven: false, isNeeded: false });
  if (response.status !== 401) return otherFinding(response);
  const next = 'give one with --token-file FILE or CANTON_RX_LEDGER_TOKEN';
  return token.failed({ kind: 'token', text: 'a token is required (401)', next }, { isGiven: false, isNeeded: true });
}

function otherFinding(response: ProbeResponse): Finding {
  const trouble = troubleOfResponse(response);
  return trouble?.kind === 'token' ? token.failed(trouble) : noLedgerEnd;
}

const audienceAdvice = 'participants from 3.7 on refuse such a token: get tokens with an audience before the upgrade';

/** The validity period of a token, in seconds since 1970, and its audience. */
interface Claims {
  readonly exp?: number;
  readonly nbf?: number;
  readonly aud?: unknown;
}

const Claims: t.Type<Claims, unknown> = t.partial({ exp: t.number, nbf: t.number, aud: t.unknown });

const hasAudience = ({ aud = [] }: Claims): boolean => [aud].flat().some((audience) => Boolean(audience));

/** The claims of a JWT; `undefined` for any other text. The participant verifies the signature. */
function readClaims(text: string): Claims | undefined {
  const [, payload, signature] = text.split('.');
  return payload === undefined || signature === undefined
    ? undefined
    : decodeJson(Buffer.from(payload, 'base64url').toString(), Claims);
}

/** The longest validity that participants from 3.4 on accept by default, in seconds. */
const maxValidity = 300;

/** The next step after a refusal. The participant does not give the reason, but the times of the token may explain it. */
function refusalAdvice(claims: Claims | undefined, { version }: Basics): string {
  if (claims === undefined) return 'it is not a JWT: check --token-file or CANTON_RX_LEDGER_TOKEN';
  const now = Date.now() / 1_000;
  const { exp, nbf } = claims;
  if (exp !== undefined && exp <= now) return `it expired ${formatDuration(now - exp)} ago: get a new one`;
  if (nbf !== undefined && nbf > now) return `it becomes valid in ${formatDuration(nbf - now)}: check the clocks`;
  const release = 'response' in version ? releaseIn(version.response) : undefined;
  if (!hasAudience(claims) && requiresAudience(release))
    return 'it has no audience (aud), which participants from 3.7 on require: get a token with the audience of this participant';
  if (exp !== undefined && exp - now > maxValidity)
    return `it is valid for ${formatDuration(exp - now)}: participants from 3.4 on accept at most 5 minutes by default`;
  return 'check its audience or scope, its signature and its user; the log of the participant has the reason';
}

/** Whether a release refuses tokens without an audience, or may do so because it is not known. */
function requiresAudience(release = '3.7'): boolean {
  const [major = 0, minor = 0] = release.split('.').map(Number);
  return major > 3 || (major === 3 && minor >= 7);
}

function expiryText(exp: number | undefined): string {
  if (exp === undefined) return 'has no expiry time';
  const left = exp - Date.now() / 1_000;
  return left > 0 ? `expires in ${formatDuration(left)}` : `expired ${formatDuration(-left)} ago`;
}

const toIsoTime = (seconds: number): string | undefined =>
  Number.isFinite(seconds) && Math.abs(seconds) < 8.64e12 ? new Date(seconds * 1_000).toISOString() : undefined;

const updates = findings('updates');

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
  if (response.status !== 403 || isUserRefused(response))
    return troubleOfResponse(response) ?? ({ kind: 'other', text: 'the response is not a list' } as const);
  return {
    kind: 'token',
    text: `the user of the token may not read as ${isAnyParty ? 'any party' : 'these parties'} (403)`,
    next: isAnyParty ? 'choose a party with --party PARTY' : 'grant CanReadAs for these parties to the user',
  } as const;
}

const end = findings('ledgerEnd');

const pruned = findings('pruned');

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

const pageLimit = findings('pageLimit');

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
  const list = parseJson(text);
  const atLeast = Array.isArray(list) ? list.length : 0;
  if (atLeast > usualLimit) return pageLimit.ok(`at least ${atLeast} updates per response`, { atLeast });
  return pageLimit.open(`unknown: the last ${lastOffsets} offsets have only ${atLeast} updates`, { atLeast });
}
