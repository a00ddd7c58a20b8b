import { RequestError } from '../errors.js';
import type { Fault } from '../Fault.js';
import { type Answer, type Call, jsonAnswer, timeoutAnswer } from '../http/Call.js';
import type { Ledger } from '../ledger/Ledger.js';
import { visibleTransaction } from '../ledger/visible.js';
import type { Participant } from '../participant/Participant.js';
import { type Creation, decodePrepared, type Effect, loadVendor } from '../prepared/PreparedSubmission.js';
import { parseBody } from '../requests/JsonCursor.js';
import { readExecuteRequest } from '../requests/executeRequest.js';
import type { TransactionFormat } from '../requests/formats.js';
import { consume, createdEvent, exercisedEvent } from '../wire/events.js';
import { formatMicros, makeUpdateId, parseMicros, sha256, trafficCost } from '../wire/values.js';
import type { WireCreatedEvent, WireEvent } from '../wire/WireEvent.js';
import type { WireTransaction } from '../wire/WireUpdate.js';
import { checkAcceptance, checkVerdict, chooseLedgerTime, type SignedSubmission } from './checks.js';

/** `POST /v2/interactive-submission/executeAndWaitForTransaction` */
export async function execute({ body, participant, trace, fault }: Call): Promise<Answer> {
  const vendor = await loadVendor();
  const request = readExecuteRequest(parseBody(body), participant.settings.profile);
  const { submissionId, userId } = request;
  try {
    const { prepared, hash } = await decodePrepared(request.preparedTransaction, vendor);
    const changeId = JSON.stringify([userId, prepared.party, prepared.commandId]);
    // synchronous from here on, so that the ledger does not change between the checks and the commit
    return accept({ request, prepared, hash, changeId, trace }, participant, fault);
  } catch (error) {
    if (!(error instanceof RequestError) || typeof error.body === 'string') throw error;
    throw new RequestError(error.status, { ...error.body, correlationId: submissionId });
  }
}

/** Checks a submission and commits it, immediately or with the delay of its fault. */
function accept(submission: SignedSubmission, participant: Participant, fault: Fault | undefined): Answer {
  const { ledger, settings, pending } = participant;
  checkAcceptance(submission, participant);
  checkVerdict(submission, participant);
  if (fault?.kind === 'commitLate') {
    pending.add(submission.changeId, fault.ms, () => {
      commitIfStillValid(submission, participant);
    });
    return { ...timeoutAnswer(), lost: fault.how === 'reset' };
  }
  const transaction = commitSubmission(submission, participant);
  const format = submission.request.format ?? defaultFormat(submission.prepared.party);
  const { served } = visibleTransaction(transaction, format, { ledger, profile: settings.profile });
  return jsonAnswer({ transaction: served });
}

function commitIfStillValid(submission: SignedSubmission, participant: Participant): void {
  try {
    checkVerdict(submission, participant);
  } catch {
    // rejected in the meantime; the client already has its response
    return;
  }
  commitSubmission(submission, participant);
}

/** Commits a checked submission as the next update of the ledger, and stores its change for deduplication. */
function commitSubmission(
  { request, prepared, hash, changeId, trace }: SignedSubmission,
  { ledger, deduplication }: Participant,
): WireTransaction {
  const { party, commandId, synchronizerId, effect } = prepared;
  const offset = ledger.end + 1;
  const recordTime = ledger.recordTimes.now(synchronizerId);
  const effectiveAt = formatMicros(chooseLedgerTime(prepared, request, parseMicros(recordTime)));
  const transaction: WireTransaction = {
    updateId: makeUpdateId(hash.toString('hex'), offset),
    commandId,
    workflowId: '',
    effectiveAt,
    events: buildEvents(effect, { party, offset, effectiveAt, ledger }),
    offset,
    synchronizerId,
    traceContext: trace.context,
    recordTime,
    externalTransactionHash: hash.toString('hex'),
    paidTrafficCost: trafficCost(request.preparedTransaction.length),
    transactionHash: hash.toString('hex'),
  };
  ledger.commit([{ update: { Transaction: { value: transaction } }, submitters: [party] }]);
  deduplication.add(changeId, {
    submissionId: request.submissionId,
    completionOffset: offset,
    at: Date.now(),
  });
  return transaction;
}

interface CommitContext {
  readonly party: string;
  readonly offset: number;
  readonly effectiveAt: string;
  readonly ledger: Ledger;
}

/** The events of a committed submission. */
function buildEvents(effect: Effect, { party, offset, effectiveAt, ledger }: CommitContext): readonly WireEvent[] {
  const create = (creation: Creation, nodeId: number): WireCreatedEvent => {
    // a synchronizer adds the suffix to the contract id of the prepared transaction
    const contractId = `${creation.contractId}ca1112${sha256('suffix', creation.contractId, offset)}`;
    return createdEvent({ ...creation, offset, nodeId, contractId, createdAt: effectiveAt });
  };
  if (effect.kind === 'create') return [{ CreatedEvent: create(effect, 0) }];
  const contract = ledger.contracts.get(effect.contractId);
  if (contract === undefined) throw new Error(`${effect.contractId} has been checked to be active`);
  const { choice, choiceArgument, isConsuming, result } = effect;
  const successor = effect.creation && create(effect.creation, 1);
  const exercise = {
    offset,
    nodeId: 0,
    lastDescendantNodeId: successor ? 1 : 0,
    choice,
    choiceArgument,
    exerciseResult: successor?.contractId ?? result,
    actingParties: [party],
  };
  const exercised = isConsuming
    ? consume(contract.created, exercise)
    : [{ ExercisedEvent: exercisedEvent(contract.created, exercise, false) }];
  return [...exercised, ...(successor ? [{ CreatedEvent: successor }] : [])];
}

/** Returns the default format: all contracts that the party of the submission may see. */
function defaultFormat(party: string): TransactionFormat {
  const wildcard = [{ kind: 'wildcard', id: '', blob: false, view: false }] as const;
  return { events: { byParty: new Map([[party, wildcard]]) }, ledgerEffects: false };
}
