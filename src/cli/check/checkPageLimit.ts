import { map, of, type Observable } from 'rxjs';
import type { Answer } from '../probe/Answer.js';
import type { Finding } from './Finding.js';
import { finder } from './finder.js';
import type { First } from './First.js';
import type { Probe } from './Probe.js';
import { troubleOfAnswer } from './troubleOfAnswer.js';
import { updatesBody } from './updatesBody.js';

/** Twice the usual limit, and no more than a page or two costs. */
const reach = 400;
const usual = 200;

const { ok, open, failed } = finder('pageLimit', 'page limit');

/** How many updates one answer may have: a service that is asked for more refuses, and says what its limit is. */
export function checkPageLimit(
  { ask, parties }: Probe,
  { endOffset, prunedOffset = 0 }: First,
  path: string | undefined,
): Observable<Finding> {
  if (path === undefined || endOffset === undefined) return of(open('not found out'));
  if (endOffset <= prunedOffset) return of(open('not found out: the ledger is empty'));
  const range = { beginExclusive: Math.max(prunedOffset, endOffset - reach), endInclusive: endOffset };
  return ask({ method: 'POST', path: `${path}?limit=${reach * 10}`, body: updatesBody(parties, range) }).pipe(
    map(limitIn),
  );
}

function limitIn(answer: Answer): Finding {
  const { status, text } = answer;
  if (status === 413) {
    const told = /limit \((\d+)\)/.exec(text)?.[1];
    if (told === undefined) return ok(`less than ${reach}: feeds find out how much`);
    const limit = Number(told);
    return ok(`${limit} updates an answer${limit < usual ? ': feeds find that out, and ask for less' : ''}`, { limit });
  }
  const trouble = troubleOfAnswer(answer);
  if (trouble !== undefined) return failed(trouble);
  const list: unknown = JSON.parse(text);
  const count = Array.isArray(list) ? list.length : 0;
  if (count > usual) return ok(`${count} updates came in one answer`, { atLeast: count });
  return open(`not found out: the last ${reach} offsets have only ${count} of the updates`, { atLeast: count });
}
