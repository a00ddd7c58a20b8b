import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import {
  catchError,
  concatMap,
  defer,
  EMPTY,
  finalize,
  map,
  type Observable,
  range,
  takeUntil,
  timer,
  toArray,
} from 'rxjs';
import type { Connection } from '../arguments.js';
import { type Answer, ask } from '../probe/ask.js';
import { codeIn, finder, type Finding, type First, type Outcome, type Probe } from './Finding.js';
import { isThisMachine } from './report.js';
import { troubleOfAnswer, troubleOfError } from './trouble.js';

const { ok, failed } = finder('reachable', 'reachable');

/** Whether a ledger answers, and not nobody or somebody else. */
export function checkReachable({ version, end, pruned }: First): Finding {
  const answers = [version, end, pruned].flatMap((outcome) => ('answer' in outcome ? [outcome.answer] : []));
  const [first] = answers;
  if (first === undefined) return failed(troubleOfError(errorOf(version)));
  const ours = answers.find(isOfLedger);
  if (ours !== undefined) return ok('yes', { tookMs: Math.round(ours.tookMs) });
  const trouble = troubleOfAnswer(first);
  if (trouble !== undefined && trouble.kind !== 'other') return failed(trouble);
  return failed({
    kind: 'foreign',
    text: first.status === 404 ? 'something answers, and has no ledger there (404)' : 'what answers is not a ledger',
    next: "is the path prefix of the address right? is this the JSON Ledger API's port?",
  });
}

const errorOf = (outcome: Outcome): unknown => ('error' in outcome ? outcome.error : undefined);

/** By what it has in it: a ledger's 404 has other words than that of a web server. */
function isOfLedger(answer: Answer): boolean {
  if (codeIn(answer.text) !== undefined) return true;
  try {
    const json: unknown = JSON.parse(answer.text);
    const names = typeof json === 'object' && json !== null ? Object.keys(json) : [];
    return ['version', 'offset', 'participantPrunedUpToInclusive', 'ledgerApiError'].some((name) =>
      names.includes(name),
    );
  } catch {
    // a gateway's
    return answer.status === 401 && !answer.text.trimStart().startsWith('<');
  }
}

const { warned } = finder('encryption', 'encryption');

/** Whether the token goes where others can read it: then a warning, and otherwise nothing. */
export function checkEncryption({ ledger, token }: Connection): readonly Finding[] {
  const { protocol, hostname } = new URL(ledger);
  if (token === undefined || protocol === 'https:' || isThisMachine(hostname)) return [];
  return [
    warned({
      text: 'the token goes over plain http to another host: whoever is on the way can read it',
      next: 'use https://, or a tunnel to a port of this machine; get a new token where somebody else may be on the way',
    }),
  ];
}

const mostMs = 2_000;

const times = 9;

/** How long a small request takes on a connection that is open already. */
export const checkRoundTrip = ({ connection }: Probe, { endOffset }: First): Observable<Finding> =>
  defer(() => {
    const Agent = connection.ledger.toLowerCase().startsWith('https:') ? HttpsAgent : HttpAgent;
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const path = endOffset === undefined ? '/v2/version' : '/v2/state/ledger-end';
    const asking = { timeoutMs: mostMs, agent };
    const answer$ = range(0, times + 1).pipe(
      concatMap(() => ask(connection, { method: 'GET', path }, asking)),
      catchError(() => EMPTY),
      takeUntil(timer(mostMs)),
    );
    return answer$.pipe(
      map(({ tookMs }) => tookMs),
      toArray(),
      // the first has the connection in it
      map(([, ...taken]) => described(taken)),
      finalize(() => {
        agent.destroy();
      }),
    );
  });

/** More than that is of the one clock or the other, in seconds. Tokens are good for minutes. */
const most = 5;

const { ok: okCheckRoundTrip, open } = finder('roundTrip', 'round trip');

function described(taken: readonly number[]): Finding {
  const sorted = [...taken].sort((a, b) => a - b);
  const [least, median, most] = [sorted[0], sorted[Math.floor(sorted.length / 2)], sorted.at(-1)];
  if (least === undefined || median === undefined || most === undefined) return open('not found out in time');
  const [low, middle, high] = [least, median, most].map((ms) => Math.round(ms * 10) / 10);
  return okCheckRoundTrip(`${middle} ms, the median of ${sorted.length} from ${low} to ${high} ms`, {
    medianMs: middle,
    leastMs: low,
    mostMs: high,
    count: sorted.length,
  });
}

const { ok: okCheckClock, open: openCheckClock, failed: failedCheckClock } = finder('clock', 'clock');

/** How far this machine's clock is from that of the service, by the `Date` of the answer that took least. */
export function checkClock({ version, end, pruned }: First): Finding {
  const skews = [version, end, pruned]
    .flatMap((outcome) => ('answer' in outcome ? skewOf(outcome.answer) : []))
    .sort((a, b) => a.within - b.within);
  const [best] = skews;
  if (best === undefined) return openCheckClock('not told: answers have no Date');
  const { ahead, within } = best;
  const data = { aheadSeconds: rounded(ahead), withinSeconds: rounded(within) };
  const exactness = `to within ${within.toFixed(1)} s, by the answer's Date, which may be a proxy's`;
  if (Math.abs(ahead) - within <= most) {
    const isSame = Math.abs(ahead) <= within;
    return okCheckClock(isSame ? `the same as here, ${exactness}` : `${sideOf(ahead)}, ${exactness}`, data);
  }
  const next = 'set both clocks by NTP: tokens, and the times of submissions, go by them';
  return failedCheckClock({ kind: 'other', text: `${sideOf(ahead)}, ${exactness}`, next }, data);
}

/** A `Date` has whole seconds, rounded down, of any moment between sending and answer. */
function skewOf({ headers: { date }, sentAt, cameAt }: Answer): readonly { ahead: number; within: number }[] {
  const told = Date.parse(date ?? '');
  if (Number.isNaN(told)) return [];
  const ahead = (told + 500 - (sentAt + cameAt) / 2) / 1_000;
  return [{ ahead, within: 0.5 + (cameAt - sentAt) / 2_000 }];
}

const rounded = (seconds: number): number => Math.round(seconds * 10) / 10;

const sideOf = (ahead: number): string =>
  `the service's is ${Math.abs(ahead).toFixed(1)} s ${ahead > 0 ? 'ahead' : 'behind'}`;
