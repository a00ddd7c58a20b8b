import * as t from 'io-ts';
import { defer, map, type Observable, of } from 'rxjs';
import { probe, type ProbeResponse, tokenOf } from '../probe.js';
import { formatDuration } from '../text.js';
import { type Finding, findings } from './Finding.js';
import { type Basics, type Probe, troubleOfResponse } from './Probe.js';
import { releaseIn } from './service.js';

const token = findings('token', 'token');

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
  if (payload === undefined || signature === undefined) return undefined;
  try {
    const decoded = Claims.decode(JSON.parse(Buffer.from(payload, 'base64url').toString()));
    return decoded._tag === 'Right' ? decoded.right : undefined;
  } catch {
    return undefined;
  }
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
