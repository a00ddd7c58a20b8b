import { defer, map, of, type Observable } from 'rxjs';
import type { Answer } from '../probe/Answer.js';
import { tokenNow } from '../probe/tokenNow.js';
import { claimsOf } from './claimsOf.js';
import { durationText } from './durationText.js';
import type { Finding } from './Finding.js';
import { finder } from './finder.js';
import type { First } from './First.js';
import type { Probe } from './Probe.js';
import { tokenAdvice } from './tokenAdvice.js';
import { troubleOfAnswer } from './troubleOfAnswer.js';

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

function lifeText(exp: number | undefined): string {
  if (exp === undefined) return 'it does not say when it expires';
  const left = exp - Date.now() / 1_000;
  return left > 0 ? `expires in ${durationText(left)}` : `expired ${durationText(-left)} ago`;
}

const isoOf = (seconds: number): string | undefined =>
  Number.isFinite(seconds) && Math.abs(seconds) < 8.64e12 ? new Date(seconds * 1_000).toISOString() : undefined;
