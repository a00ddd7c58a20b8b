import * as t from 'io-ts';
import { catchError, forkJoin, map, of, type Observable } from 'rxjs';
import { LedgerEnd } from '../../codecs/LedgerEnd.js';
import { Offset } from '../../codecs/Offset.js';
import type { Question } from '../probe/Question.js';
import { jsonIn } from '../probe/jsonIn.js';
import type { First, Outcome } from './First.js';
import type { Probe } from './Probe.js';

const Pruned = t.type({ participantPrunedUpToInclusive: Offset });

/** Asks for what needs no more than a connection, and a token perhaps. */
export function askFirst({ ask }: Probe): Observable<First> {
  const outcome = (question: Question): Observable<Outcome> =>
    ask(question).pipe(
      map((answer): Outcome => ({ answer })),
      catchError((error: unknown) => of<Outcome>({ error })),
    );
  return forkJoin({
    // that needs no token: whether the ledger can be reached and whether it lets in are two questions
    version: outcome({ method: 'GET', path: '/v2/version', isAnonymous: true }),
    end: outcome({ method: 'GET', path: '/v2/state/ledger-end' }),
    pruned: outcome({ method: 'GET', path: '/v2/state/latest-pruned-offsets' }),
  }).pipe(
    map((outcomes) => ({
      ...outcomes,
      endOffset: jsonOf(outcomes.end, LedgerEnd)?.offset,
      prunedOffset: jsonOf(outcomes.pruned, Pruned)?.participantPrunedUpToInclusive,
    })),
  );
}

const jsonOf = <A>(outcome: Outcome, codec: t.Type<A, unknown>): A | undefined =>
  'answer' in outcome ? jsonIn(outcome.answer, codec) : undefined;
