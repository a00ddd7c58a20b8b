import type { Answer } from '../probe/Answer.js';
import type { Finding } from './Finding.js';
import { finder } from './finder.js';
import type { First } from './First.js';

/** More than that is of the one clock or the other, in seconds. Tokens are good for minutes. */
const most = 5;

const { ok, open, failed } = finder('clock', 'clock');

/** How far this machine's clock is from that of the service, by the `Date` of the answer that took least. */
export function checkClock({ version, end, pruned }: First): Finding {
  const skews = [version, end, pruned]
    .flatMap((outcome) => ('answer' in outcome ? skewOf(outcome.answer) : []))
    .sort((a, b) => a.within - b.within);
  const [best] = skews;
  if (best === undefined) return open('not told: answers have no Date');
  const { ahead, within } = best;
  const data = { aheadSeconds: rounded(ahead), withinSeconds: rounded(within) };
  const exactness = `to within ${within.toFixed(1)} s, by the answer's Date, which may be a proxy's`;
  if (Math.abs(ahead) - within <= most) {
    const isSame = Math.abs(ahead) <= within;
    return ok(isSame ? `the same as here, ${exactness}` : `${sideOf(ahead)}, ${exactness}`, data);
  }
  const next = 'set both clocks by NTP: tokens, and the times of submissions, go by them';
  return failed({ kind: 'other', text: `${sideOf(ahead)}, ${exactness}`, next }, data);
}

const sideOf = (ahead: number): string =>
  `the service's is ${Math.abs(ahead).toFixed(1)} s ${ahead > 0 ? 'ahead' : 'behind'}`;

const rounded = (seconds: number): number => Math.round(seconds * 10) / 10;

/** A `Date` has whole seconds, rounded down, of any moment between sending and answer. */
function skewOf({ headers: { date }, sentAt, cameAt }: Answer): readonly { ahead: number; within: number }[] {
  const told = Date.parse(date ?? '');
  if (Number.isNaN(told)) return [];
  const ahead = (told + 500 - (sentAt + cameAt) / 2) / 1_000;
  return [{ ahead, within: 0.5 + (cameAt - sentAt) / 2_000 }];
}
