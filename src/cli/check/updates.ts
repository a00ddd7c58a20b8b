import { forkJoin, map, type Observable, of } from 'rxjs';
import type { Answer } from '../probe/ask.js';
import { grouped } from '../terminal.js';
import {
  codeIn,
  finder,
  type Finding,
  type First,
  isUntold,
  type Outcome,
  type Probe,
  updatesBody,
} from './Finding.js';
import { troubleOfAnswer, troubleOfError } from './trouble.js';

const end = finder('ledgerEnd', 'ledger end');

/** Where updates are read; absent where they cannot be. */
interface Updates {
  readonly finding: Finding;
  readonly path?: string;
}

const flats = '/v2/updates/flats';

const current = '/v2/updates';

const { ok, open, failed } = finder('updates', 'updates');

/** A ledger's own 404 looks the same below a wrong prefix as at a path that it does not have. */
const nowhere = {
  kind: 'foreign',
  text: `served neither at ${flats} nor at ${current} (404)`,
  next: 'is the path prefix of the address right? it ends before /v2',
} as const;

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

const pruned = finder('pruned', 'pruned');

/** From where to where the ledger can be read. */
export function checkOffsets(first: First): readonly Finding[] {
  const { endOffset, prunedOffset } = first;
  return [
    endOffset === undefined
      ? missing(end, first.end, 'not told: feeds do without')
      : end.ok(`offset ${grouped(endOffset)}`, { offset: endOffset }),
    prunedOffset === undefined
      ? missing(pruned, first.pruned, 'not told')
      : pruned.ok(prunedText(prunedOffset), { upToInclusive: prunedOffset }),
  ];
}

function missing({ open, failed }: typeof end, outcome: Outcome, untold: string): Finding {
  if ('error' in outcome) return failed(troubleOfError(outcome.error));
  if (isUntold(outcome.answer)) return open(untold);
  const trouble = troubleOfAnswer(outcome.answer) ?? { kind: 'other', text: 'the answer has no offset in it' };
  // the token has a line of its own
  return trouble.kind === 'token' ? open('not told without a good token') : failed(trouble);
}

const prunedText = (offset: number): string =>
  offset === 0
    ? 'never: all is there'
    : `up to offset ${grouped(offset)}: --from ${offset} is the first place to begin at`;

const {
  ok: okCheckPageLimit,
  open: openCheckPageLimit,
  failed: failedCheckPageLimit,
} = finder('pageLimit', 'page limit');

/** Twice the usual limit, and no more than a page or two costs. */
const reach = 400;

/** How many updates one answer may have: a service that is asked for more refuses, and says what its limit is. */
export function checkPageLimit(
  { ask, parties }: Probe,
  { endOffset, prunedOffset = 0 }: First,
  path: string | undefined,
): Observable<Finding> {
  if (path === undefined || endOffset === undefined) return of(openCheckPageLimit('not found out'));
  if (endOffset <= prunedOffset) return of(openCheckPageLimit('not found out: the ledger is empty'));
  const range = { beginExclusive: Math.max(prunedOffset, endOffset - reach), endInclusive: endOffset };
  return ask({ method: 'POST', path: `${path}?limit=${reach * 10}`, body: updatesBody(parties, range) }).pipe(
    map(limitIn),
  );
}

const usual = 200;

function limitIn(answer: Answer): Finding {
  const { status, text } = answer;
  if (status === 413) {
    const told = /limit \((\d+)\)/.exec(text)?.[1];
    if (told === undefined) return okCheckPageLimit(`less than ${reach}: feeds find out how much`);
    const limit = Number(told);
    return okCheckPageLimit(
      `${limit} updates an answer${limit < usual ? ': feeds find that out, and ask for less' : ''}`,
      { limit },
    );
  }
  const trouble = troubleOfAnswer(answer);
  if (trouble !== undefined) return failedCheckPageLimit(trouble);
  const list: unknown = JSON.parse(text);
  const count = Array.isArray(list) ? list.length : 0;
  if (count > usual) return okCheckPageLimit(`${count} updates came in one answer`, { atLeast: count });
  return openCheckPageLimit(`not found out: the last ${reach} offsets have only ${count} of the updates`, {
    atLeast: count,
  });
}
