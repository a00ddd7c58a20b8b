import { randomUUID } from 'node:crypto';
import * as t from 'io-ts';
import { type Observable, of } from 'rxjs';
import { adapt } from '../../codecs/internal/Codec.js';
import { list, nullable, text } from '../../codecs/internal/field.js';
import { valueField } from '../../codecs/internal/message.js';
import { oneOfKeys } from '../../codecs/internal/variant.js';
import { LedgerString, Party, UserId } from '../../codecs/scalars.js';
import { EventFormat } from '../../codecs/UpdateFormat.js';
import { invalidArgument, requestError } from '../errors.js';
import { type Answer, type Call, jsonAnswer } from '../http/Call.js';
import type { Ledger } from '../ledger/Ledger.js';
import { checkFilters } from '../ledger/checkPackages.js';
import { EventView, visibleReassignment } from '../ledger/visible.js';
import type { Settings } from '../participant/Settings.js';
import { decodeBody, readUser } from '../requests/decode.js';
import { selectEvents } from '../requests/selections.js';
import { withoutAbsent } from '../requests/withoutAbsent.js';
import { reassign } from '../submission/route.js';
import { stakeholdersOf, type WireReassignment, type WireReassignmentEventInput } from '../wire/WireUpdate.js';
import { withSubmissionId } from './commands.js';

const Unassign = t.type({ contractId: text, source: text, target: text });

const Assign = t.type({ reassignmentId: text, source: text, target: text });

type Move =
  | { readonly UnassignCommand: { readonly value: t.TypeOf<typeof Unassign> } }
  | { readonly AssignCommand: { readonly value: t.TypeOf<typeof Assign> } };

const Move = oneOfKeys<Move>('ReassignmentCommand', {
  UnassignCommand: valueField(Unassign),
  AssignCommand: valueField(Assign),
});

const ReassignBody = t.type({
  reassignmentCommands: adapt(
    t.type({
      commandId: LedgerString,
      submitter: Party,
      commands: list(t.type({ command: Move }), 1),
      userId: nullable(UserId),
      submissionId: nullable(LedgerString),
      workflowId: nullable(LedgerString),
    }),
    withoutAbsent,
  ),
  eventFormat: nullable(EventFormat),
});

/** `POST /v2/commands/submit-and-wait-for-reassignment`: without an event format, the reassignment has no events. */
export function submitAndWaitForReassignment(call: Call): Observable<Answer> {
  return submitReassignment(call, (committed, eventFormat) => {
    const { participant } = call;
    if (!eventFormat) return jsonAnswer({ reassignment: { ...committed, events: [] } });
    const events = selectEvents(eventFormat, participant.settings.profile);
    checkFilters(participant.ledger.packages, events);
    return jsonAnswer({ reassignment: visibleReassignment(committed, new EventView(events, participant)) });
  });
}

/** `POST /v2/commands/async/submit-reassignment` */
export const submitReassignmentAsync = (call: Call): Observable<Answer> =>
  submitReassignment(call, () => jsonAnswer({}));

type AnswerReassignment = (committed: WireReassignment, format: t.TypeOf<typeof ReassignBody>['eventFormat']) => Answer;

/** Commits a reassignment at once. Participants check neither whether it is a duplicate nor whether it is in flight. */
function submitReassignment({ participant, body, trace }: Call, answer: AnswerReassignment): Observable<Answer> {
  const { reassignmentCommands, eventFormat } = decodeBody(ReassignBody, body, participant.settings);
  const { commandId, submitter, commands } = reassignmentCommands;
  const submissionId = reassignmentCommands.submissionId ?? randomUUID();
  return withSubmissionId(submissionId, () => {
    const { ledger, settings, hosted } = participant;
    const userId = readUser(reassignmentCommands.userId, settings);
    if (!hosted.isLocal(submitter))
      throw requestError('SUBMITTERS_NOT_ACTIVE', `This participant cannot submit for ${submitter}`);
    const moves = commands.map(({ command }) => command);
    checkMoves(moves, settings);
    const events = moves.map((move) => eventOf(move, submitter, ledger));
    const [synchronizerId = ''] = moves.map(synchronizerOf);
    const workflowId = reassignmentCommands.workflowId ?? '';
    const ids = { commandId, userId, submissionId, actAs: [submitter], trace, workflowId, size: body.length };
    return of(answer(reassign(events, synchronizerId, ids, participant), eventFormat));
  });
}

/** Rejects moves that cannot be one update: each contract once, and all by the same route between connected synchronizers. */
function checkMoves(moves: readonly Move[], { synchronizers }: Settings): void {
  const routes = moves.map((move) => {
    const { source, target } = 'AssignCommand' in move ? move.AssignCommand.value : move.UnassignCommand.value;
    const unknown = [source, target].find((synchronizerId) => !synchronizers.includes(synchronizerId));
    if (unknown !== undefined) throw invalidArgument(`This participant is not connected to ${unknown}`);
    return JSON.stringify(['AssignCommand' in move, source, target]);
  });
  const subjects = moves.map((move) =>
    'AssignCommand' in move ? move.AssignCommand.value.reassignmentId : move.UnassignCommand.value.contractId,
  );
  if (new Set(routes).size > 1) throw invalidArgument('The reassignment commands have different routes');
  if (new Set(subjects).size < subjects.length) throw invalidArgument('A reassignment command is repeated');
}

/** The synchronizer that records a move. */
const synchronizerOf = (move: Move): string =>
  'AssignCommand' in move ? move.AssignCommand.value.target : move.UnassignCommand.value.source;

/** The event of a command, if its contract is at the start of the move. */
function eventOf(move: Move, submitter: string, { contracts }: Ledger): WireReassignmentEventInput {
  if ('AssignCommand' in move) {
    const { reassignmentId, source, target } = move.AssignCommand.value;
    const begun = contracts.reassignments.find(
      ({ half }) => 'unassigned' in half && half.unassigned.reassignmentId === reassignmentId,
    );
    if (begun === undefined || !('unassigned' in begun.half) || begun.half.unassigned.target !== target)
      throw requestError('REASSIGNMENT_VALIDATION_FAILED', `Reassignment ${reassignmentId} is unknown`);
    if (begun.endedAt !== Infinity) {
      const cause = `Cannot find reassignment data for reassignment \`ReassignmentId(${reassignmentId})\``;
      throw invalidArgument(`${cause}: reassignment already completed`);
    }
    const { reassignmentCounter } = begun;
    const createdEvent = { contractId: begun.half.unassigned.contractId };
    return { JsAssignmentEvent: { source, target, reassignmentId, reassignmentCounter, submitter, createdEvent } };
  }
  const { contractId, source, target } = move.UnassignCommand.value;
  if (source === target)
    throw requestError('INVALID_ARGUMENT', `Cannot unassign contract ${contractId}: source and target are the same`);
  const contract = contracts.get(contractId);
  if (contract?.synchronizerId !== source)
    throw requestError('UNASSIGNMENT_ACTIVENESS_CHECK_FAILED', `Contract ${contractId} is not active on ${source}`);
  if (!stakeholdersOf(contract.created).includes(submitter))
    throw requestError('REASSIGNMENT_VALIDATION_FAILED', `${submitter} is not a stakeholder of ${contractId}`);
  return { JsUnassignedEvent: { value: { contractId, source, target, submitter } } };
}
