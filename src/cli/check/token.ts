import * as t from 'io-ts';
import { defer, map, type Observable, of } from 'rxjs';
import { type Answer, tokenNow } from '../probe/ask.js';
import { finder, type Finding, type First, type Probe } from './Finding.js';
import { troubleOfAnswer } from './trouble.js';

/** What a token says of the time for which it is good, in seconds since 1970. */
interface Claims {
  readonly exp?: number;
  readonly nbf?: number;
}

const Claims: t.Type<Claims, unknown> = t.partial({ exp: t.number, nbf: t.number });

/** The times in a JWT; `undefined` for what is none. Its signature is not checked: that is for the participant. */
export function claimsOf(token: string): Claims | undefined {
  const [, payload, signature] = token.split('.');
  if (payload === undefined || signature === undefined) return undefined;
  try {
    const decoded = Claims.decode(JSON.parse(Buffer.from(payload, 'base64url').toString()));
    return decoded._tag === 'Right' ? decoded.right : undefined;
  } catch {
    return undefined;
  }
}

/** A time as people say it: `4 min 10 s`, `26 h 5 min`, `12 d 3 h`. */
export function durationText(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const parts: readonly (readonly [number, string])[] = [
    [Math.floor(whole / 86_400), 'd'],
    [Math.floor(whole / 3_600) % 24, 'h'],
    [Math.floor(whole / 60) % 60, 'min'],
    [whole % 60, 's'],
  ];
  const first = parts.findIndex(([count]) => count > 0);
  if (first === -1) return '0 s';
  return parts
    .slice(first, first + 2)
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(' ');
}

/** The longest that participants from 3.4 on take a token for, unless they are told otherwise, in seconds. */
const usualMost = 300;

/** What to do about a token that was refused: the participant does not say why, but the token's times may. */
export function tokenAdvice(token: string, nowMs: number): string {
  const claims = claimsOf(token);
  if (claims === undefined) return 'it is no JWT: is this the right file?';
  const now = nowMs / 1_000;
  const { exp, nbf } = claims;
  if (exp !== undefined && exp <= now) return `it expired ${durationText(now - exp)} ago: get a new one`;
  if (nbf !== undefined && nbf > now) return `it is good only in ${durationText(nbf - now)}: see to the clocks`;
  if (exp !== undefined && exp - now > usualMost)
    return `it is good for ${durationText(exp - now)}: participants from 3.4 on take 5 minutes at most, by default`;
  return "see to its audience or scope, its signature and its user; the participant's log says which it is";
}

const { ok, open, failed } = finder('token', 'token');

/** Whether the participant lets in, and for how long the token is good. Nothing else of the token is told. */
export const checkToken = (probe: Probe, { end }: First): Observable<Finding> =>
  defer(() => ('error' in end ? of(open('not found out: the ledger end was not told')) : judged(probe, end.answer)));

function judged({ ask, connection }: Probe, answer: Answer): Observable<Finding> {
  const token = tokenNow(connection);
  const { status } = answer;
  if (token === undefined) return of(without(answer));
  const exp = claimsOf(token)?.exp;
  const data = { isGiven: true, isAccepted: status === 200, ...(exp !== undefined && { expiresAt: isoOf(exp) }) };
  if (status === 401)
    return of(failed({ kind: 'token', text: 'token refused (401)', next: tokenAdvice(token, Date.now()) }, data));
  if (status !== 200) return of(notTold(answer));
  return ask({ method: 'GET', path: '/v2/state/ledger-end', isAnonymous: true }).pipe(
    map((anonymous) => {
      const isNeeded = anonymous.status !== 200;
      const accepted = isNeeded ? 'accepted' : 'none is needed: the participant lets in whoever asks';
      return ok([accepted, lifeText(exp)].join(', '), { ...data, isNeeded });
    }),
  );
}

function without(answer: Answer): Finding {
  if (answer.status === 200) return ok('none given, and none needed', { isGiven: false, isNeeded: false });
  if (answer.status !== 401) return notTold(answer);
  const next = 'give one with --token-file FILE or CANTON_RX_LEDGER_TOKEN';
  return failed({ kind: 'token', text: 'a token is needed (401)', next }, { isGiven: false, isNeeded: true });
}

function notTold(answer: Answer): Finding {
  const trouble = troubleOfAnswer(answer);
  return trouble?.kind === 'token' ? failed(trouble) : open('not found out: the ledger end was not told');
}

const isoOf = (seconds: number): string | undefined =>
  Number.isFinite(seconds) && Math.abs(seconds) < 8.64e12 ? new Date(seconds * 1_000).toISOString() : undefined;

function lifeText(exp: number | undefined): string {
  if (exp === undefined) return 'it does not say when it expires';
  const left = exp - Date.now() / 1_000;
  return left > 0 ? `expires in ${durationText(left)}` : `expired ${durationText(-left)} ago`;
}
