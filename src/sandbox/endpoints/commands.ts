import { randomUUID } from 'node:crypto';
import * as t from 'io-ts';
import { catchError, concatMap, defer, map, type Observable, timer } from 'rxjs';
import { CommandsRequest } from '../../codecs/SubmissionRequest.js';
import { json, lenient, list, nullable } from '../../codecs/internal/field.js';
import { Int64, LedgerString, Party, UserId } from '../../codecs/scalars.js';
import { TransactionFormat } from '../../codecs/UpdateFormat.js';
import { requestError, RequestError } from '../errors.js';
import { type Answer, type Call, jsonAnswer } from '../http/Call.js';
import { checkFilters, checkPreference, checkTypes } from '../ledger/checkPackages.js';
import { visibleTransaction } from '../ledger/visible.js';
import { completionValue } from '../participant/Completions.js';
import {
  checkNotNegative,
  decode,
  decodeBody,
  missingField,
  parseBody,
  readMinLedgerTime,
  readPeriod,
  readUser,
} from '../requests/decode.js';
import { withoutAbsent } from '../requests/withoutAbsent.js';
import { selectParties, selectTransactions } from '../requests/selections.js';
import { inputsFor, readDisclosed } from '../submission/inputs.js';
import { interpret } from '../submission/interpret.js';
import { route } from '../submission/route.js';
import { checkInputs, type Outcome, submit } from '../submission/submit.js';
import { typeCommands } from '../submission/typeCommands.js';
import { contend } from '../traffic/transactions.js';
import { clampTimer, formatMicros } from '../wire/values.js';
import type { WireTransaction } from '../wire/WireUpdate.js';
import { checkEnd, checkPruned, follow, type Selected, type Source } from './follow.js';

/** `POST /v2/commands/submit-and-wait` */
export const submitAndWait = (call: Call): Observable<Answer> =>
  submitCommands(readCommands(parseBody(call.body)), call, (outcome) =>
    answerOutcome(outcome, ({ updateId, offset }) => jsonAnswer({ updateId, completionOffset: offset })),
  );

const TransactionBody = t.type({ commands: json, transactionFormat: nullable(TransactionFormat) });

/** `POST /v2/commands/submit-and-wait-for-transaction`: reads the transaction after its commit, which can fail. */
export function submitAndWaitForTransaction(call: Call): Observable<Answer> {
  const { participant, body } = call;
  const { commands, transactionFormat } = decodeBody(TransactionBody, body, participant.settings);
  const request = readCommands(commands, 'commands');
  const format = transactionFormat && selectTransactions(transactionFormat, participant.settings.profile);
  const selection = format ?? selectParties([...request.actAs, ...(request.readAs ?? [])]);
  return submitCommands(request, call, (outcome) =>
    answerOutcome(outcome, (committed) => {
      checkFilters(participant.ledger.packages, selection.events);
      return jsonAnswer({ transaction: visibleTransaction(committed, selection, participant) });
    }),
  );
}

/** `POST /v2/commands/async/submit`: after the registration, only the completion reports a rejection. */
export const submitAsync = (call: Call): Observable<Answer> =>
  submitCommands(readCommands(parseBody(call.body)), call, (outcome) =>
    'lost' in outcome ? outcome.lost : jsonAnswer({}),
  );

/** The response for an outcome. */
export function answerOutcome(outcome: Outcome, answer: (committed: WireTransaction) => Answer): Answer {
  if ('lost' in outcome) return outcome.lost;
  if ('rejected' in outcome) throw outcome.rejected;
  return answer(outcome.committed);
}

type Commands = ReturnType<typeof readCommands>;

/** The fields that a request must have, or that only the wire has. */
const Ids = t.type({ commandId: LedgerString, submissionId: nullable(LedgerString) });

function readCommands(body: unknown, path = '') {
  const given = withoutAbsent(body);
  const { commandId, submissionId } = decode(Ids, given, path);
  return { ...decode(CommandsRequest, given, path), commandId, submissionId: submissionId ?? randomUUID() };
}

/** Interprets, routes and submits commands, in the participant's order of checks. */
function submitCommands(request: Commands, call: Call, answer: (outcome: Outcome) => Answer): Observable<Answer> {
  const { participant, trace, body } = call;
  const { commandId, submissionId, actAs, readAs, workflowId } = request;
  const { settings, ledger, models, pending } = participant;
  const { packages } = ledger;
  return withSubmissionId(submissionId, () => {
    checkPreference(packages, request.packageIdSelectionPreference ?? []);
    checkTypes(packages, request.commands);
    const userId = readUser(request.userId, settings);
    const minLedgerTime = readMinimum(request, ledger.now());
    const period = readPeriod(request.deduplicationPeriod, settings.defaultDeduplicationMs);
    const ids = { commandId, userId, submissionId, actAs, trace, size: body.length };
    const fault = call.fault ?? contend(request.commands, participant);
    const time = formatMicros(Math.max(Math.floor(ledger.now()) * 1000, minLedgerTime ?? 0));
    const routed = withCommands(request, () => {
      const disclosed = readDisclosed(request, participant);
      const context = {
        actAs,
        packages,
        models,
        preferred: request.packageIdSelectionPreference ?? [],
        time,
        ...inputsFor([...actAs, ...(readAs ?? [])], disclosed, participant),
      };
      const { effects, inputs } = interpret(typeCommands(request.commands, context), context);
      const prescribed = request.synchronizerId ?? '';
      const unrouted = { ...ids, effects, inputs, disclosed, synchronizerId: prescribed };
      return { effects, synchronizerId: route(unrouted, participant) };
    });
    const submission = { ...ids, ...routed, workflowId: workflowId ?? '', period, minLedgerTime };
    // the participant submits at the earliest ledger time; until then, the submission is not registered
    const waitMs = (minLedgerTime ?? 0) / 1000 - ledger.now();
    const submitted = (): Observable<Outcome> => submit(submission, { ...call, fault }, checkInputs);
    const outcome$ =
      waitMs > 0
        ? pending.run(timer(clampTimer(waitMs + 1), ledger.scheduler).pipe(concatMap(submitted)))
        : submitted();
    return outcome$.pipe(map(answer));
  });
}

/** Adds the submission id to the errors of a submission. */
export const withSubmissionId = (submissionId: string, work: () => Observable<Answer>): Observable<Answer> =>
  defer(work).pipe(
    catchError((error: unknown) => {
      if (!(error instanceof RequestError) || typeof error.body === 'string') throw error;
      throw new RequestError(error.status, { ...error.body, correlationId: submissionId });
    }),
  );

/** Adds the commands to the errors of interpretation and routing. The errors after them lack this text. */
function withCommands<A>({ commandId, submissionId, actAs }: Commands, work: () => A): A {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof RequestError) || typeof error.body === 'string') throw error;
    // the errors of the JSON layer do not show the commands
    if (error.body.definiteAnswer !== null) throw error;
    const commands = `{submissionId: '${submissionId}', actAs: [${actAs.join(', ')}], commandId: '${commandId}'}`;
    throw new RequestError(error.status, { ...error.body, context: { ...error.body.context, commands } });
  }
}

function readMinimum({ minLedgerTimeAbs, minLedgerTimeRel, tapsMaxPasses }: Commands, now: number): number | undefined {
  if (minLedgerTimeAbs && minLedgerTimeRel)
    throw requestError('INVALID_ARGUMENT', 'min_ledger_time_abs cannot be specified along with min_ledger_time_rel');
  if ((tapsMaxPasses ?? 1) <= 0) throw requestError('INVALID_ARGUMENT', 'taps_max_passes must be positive');
  if (minLedgerTimeAbs) return readMinLedgerTime({ time: { MinLedgerTimeAbs: { value: minLedgerTimeAbs } } }, now);
  if (minLedgerTimeRel) return readMinLedgerTime({ time: { MinLedgerTimeRel: { value: minLedgerTimeRel } } }, now);
  return undefined;
}

/** The newer path: without a filter by user, and with an optional filter by party. */
export const completionsPath = '/v2/commands/command-completions';

const CompletionsBody = t.type({
  userId: nullable(UserId),
  parties: lenient<readonly string[]>(list(Party), []),
  beginExclusive: lenient(Int64, 0),
});

/** `/v2/commands/completions` or `…/command-completions`: by POST a list, over a WebSocket a stream. */
export function selectCompletions(call: Call): Selected {
  const { path, body, participant } = call;
  const { beginExclusive, parties, ...request } = decodeBody(CompletionsBody, body, participant.settings);
  const { completions, settings, ledger } = participant;
  const hasUser = path !== completionsPath;
  if (hasUser && parties.length === 0) throw missingField('parties');
  const userId = hasUser ? readUser(request.userId, settings) : undefined;
  const source: Source = {
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
  return {
    check: () => {
      checkNotNegative(beginExclusive);
      checkEnd('Begin', beginExclusive, ledger);
      checkPruned(beginExclusive, undefined, ledger);
    },
    read: (idleMs) => follow(call, source, idleMs),
  };
}
