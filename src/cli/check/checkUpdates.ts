import { forkJoin, map, type Observable } from 'rxjs';
import type { Answer } from '../probe/Answer.js';
import { codeIn } from './codeIn.js';
import type { Finding } from './Finding.js';
import { finder } from './finder.js';
import type { First } from './First.js';
import type { Probe } from './Probe.js';
import { troubleOfAnswer } from './troubleOfAnswer.js';
import { updatesBody } from './updatesBody.js';

/** Where updates are read; absent where they cannot be. */
export interface Updates {
  readonly finding: Finding;
  readonly path?: string;
}

const { ok, open, failed } = finder('updates', 'updates');
const flats = '/v2/updates/flats';
const current = '/v2/updates';

/** Which of the two paths serves updates, and whether the user may read them. */
export function checkUpdates({ ask, parties }: Probe, { end, endOffset = 0 }: First): Observable<Updates> {
  const body = updatesBody(parties, { beginExclusive: endOffset });
  const at = (path: string): Observable<Answer> =>
    ask({ method: 'POST', path: `${path}?limit=1&stream_idle_timeout_ms=50`, body });
  return forkJoin([at(flats), at(current)]).pipe(
    map(([ofFlats, ofCurrent]) => {
      const isThere = { flats: isServed(ofFlats), current: isServed(ofCurrent) };
      const data = { [flats]: isThere.flats, [current]: isThere.current };
      if (isThere.flats)
        return {
          path: flats,
          finding: ok(`at ${flats}, where feeds ask first${isThere.current ? `; at ${current}, too` : ''}`, data),
        };
      const why = codeIn(ofFlats.text) === 'DEPRECATED_API_DISABLED' ? 'switched off' : 'gone';
      if (isThere.current) return { path: current, finding: ok(`at ${current}; ${flats} is ${why}`, data) };
      // the token has a line of its own
      const isTold = 'answer' in end && end.answer.status === 401 && ofCurrent.status === 401;
      if (isTold) return { finding: open('not found out without a good token') };
      if (ofFlats.status === 404 && ofCurrent.status === 404) return { finding: failed(nowhere, data) };
      return { finding: failed(troubleOf(ofCurrent, parties === 'any'), data) };
    }),
  );
}

/** A ledger's own 404 looks the same below a wrong prefix as at a path that it does not have. */
const nowhere = {
  kind: 'foreign',
  text: `served neither at ${flats} nor at ${current} (404)`,
  next: 'is the path prefix of the address right? it ends before /v2',
} as const;

/** A place that is pruned is a place that is served. */
const isServed = ({ status, text }: Answer): boolean =>
  status === 200 ? text.trimStart().startsWith('[') : codeIn(text) === 'PARTICIPANT_PRUNED_DATA_ACCESSED';

function troubleOf(answer: Answer, isAnyParty: boolean) {
  if (answer.status !== 403)
    return troubleOfAnswer(answer) ?? ({ kind: 'other', text: 'the answer is no list' } as const);
  return {
    kind: 'token',
    text: `the token's user may not read as ${isAnyParty ? 'any party' : 'these parties'} (403)`,
    next: isAnyParty ? 'say as whom: --party PARTY' : 'have the user granted CanReadAs for them',
  } as const;
}
