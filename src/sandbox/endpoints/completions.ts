import * as t from 'io-ts';
import { lenient, list, nullable } from '../../codecs/internal/field.js';
import { Int64, Party, UserId } from '../../codecs/scalars.js';
import { requestError } from '../errors.js';
import { type Answer, jsonAnswer } from '../http/Answer.js';
import type { Call } from '../http/Call.js';
import type { Ledger } from '../ledger/Ledger.js';
import { completionValue } from '../participant/Completions.js';
import { decodeBody, missingField } from '../requests/decode.js';
import { readUser } from './commands.js';
import { checkPruned, follow, listAnswer, readLimits, type Source } from './follow.js';

/** The newer path: without a filter by user, and with an optional filter by party. */
export const completionsPath = '/v2/commands/command-completions';

const CompletionsBody = t.type({
  userId: nullable(UserId),
  parties: lenient<readonly string[]>(list(Party), []),
  beginExclusive: lenient(Int64, 0),
});

/** `POST /v2/commands/completions` or `…/command-completions`: a stream of completions, collected into a list. */
export async function listCompletions(call: Call): Promise<Answer> {
  const { count, idleMs } = readLimits(call);
  const source = readSource(call);
  if (count <= 0) return jsonAnswer([]);
  checkBegin(source.beginExclusive, call.participant.ledger);
  return listAnswer(follow(call, source, idleMs), count, call);
}

/** `GET` of the same paths as a WebSocket: a stream of completions, one by one. */
export async function* streamCompletions(call: Call): AsyncGenerator<object> {
  const source = readSource(call);
  checkBegin(source.beginExclusive, call.participant.ledger);
  yield* follow(call, source);
}

function readSource({ path, body, participant }: Call): Source {
  const { beginExclusive, parties, ...request } = decodeBody(CompletionsBody, body);
  const { completions, settings, ledger } = participant;
  const hasUser = path !== completionsPath;
  if (hasUser && parties.length === 0) throw missingField('parties');
  const userId = hasUser ? readUser(request.userId, settings) : undefined;
  return {
    beginExclusive,
    *read(above, upTo) {
      for (const completion of completions.between(above, upTo)) {
        // the ledger may be pruned while the completions are sent
        checkPruned(completion.offset - 1, upTo, ledger);
        const { submission } = completion;
        const actAs = submission.actAs.filter((party) => parties.length === 0 || parties.includes(party));
        if (actAs.length === 0 || (userId ?? submission.userId) !== submission.userId) continue;
        yield { completionResponse: { Completion: { value: completionValue(completion, actAs, settings) } } };
      }
    },
    envelope: (checkpoint) => ({ completionResponse: checkpoint }),
  };
}

function checkBegin(beginExclusive: number, ledger: Ledger): void {
  if (beginExclusive < 0)
    throw requestError('NEGATIVE_OFFSET', `Offset ${beginExclusive} in begin_exclusive is negative`);
  if (beginExclusive > ledger.end) {
    const cause = `Begin offset (${beginExclusive}) is after ledger end (${ledger.end})`;
    throw requestError('OFFSET_AFTER_LEDGER_END', cause);
  }
  checkPruned(beginExclusive, undefined, ledger);
}
