import { type RequestError, requestError } from '../errors.js';
import { completeUpdates } from '../ledger/append.js';
import type { Contract } from '../ledger/ContractHistory.js';
import type { SubmissionIds } from '../participant/Completions.js';
import type { Participant } from '../participant/Participant.js';
import type { HostedParties } from '../participant/parties.js';
import { invalidField } from '../requests/decode.js';
import { trafficCost } from '../wire/values.js';
import { stakeholdersOf, type WireReassignment, type WireReassignmentEventInput } from '../wire/WireUpdate.js';
import { creationsIn, type Effect } from './effects.js';
import { checkSynchronizers, type Disclosed } from './inputs.js';

/** A submission that has been interpreted, but not routed. */
interface Unrouted extends SubmissionIds {
  readonly effects: readonly Effect[];
  readonly inputs: readonly Contract[];
  readonly disclosed: Disclosed;
  /** The prescribed synchronizer; `''` for any. */
  readonly synchronizerId: string;
  readonly size: number;
}

/** Chooses the synchronizer of a submission. If configured, reassigns the contracts that are on others. */
export function route(submission: Unrouted, participant: Participant): string {
  const { inputs, disclosed, actAs, synchronizerId: prescribed } = submission;
  const { ledger, hosted, settings } = participant;
  checkInformees(submission, hosted);
  const foreign = actAs.filter((party) => !hosted.isLocal(party));
  if (foreign.length > 0) {
    const cause = `This participant cannot submit for ${foreign.join(', ')}`;
    throw requestError('NO_SYNCHRONIZER_ON_WHICH_ALL_SUBMITTERS_CAN_SUBMIT', cause);
  }
  checkSynchronizers(inputs, disclosed, ledger);
  const isConnected = prescribed === '' || settings.synchronizers.includes(prescribed);
  // a request names a logical synchronizer: the id of a physical one has a third part
  if (!isConnected && !/^[\w-]+::[\w-]+$/.test(prescribed))
    throw invalidField(`synchronizer_id: ${JSON.stringify(prescribed)} is not a synchronizer id`);
  if (!isConnected) throw prescribedError(`This participant is not connected to ${prescribed}`);
  const target = prescribed === '' ? mostFrequent(inputs) : prescribed;
  if (target === undefined) return settings.synchronizers[0] ?? '';
  const elsewhere = inputs.filter(({ synchronizerId }) => synchronizerId !== target);
  if (elsewhere.length > 0 && !settings.automaticReassignments) {
    if (prescribed !== '') throw prescribedError('The contracts are on another synchronizer');
    throw requestError('NO_COMMON_SYNCHRONIZER', 'The contracts are on different synchronizers');
  }
  for (const { created, synchronizerId: source } of elsewhere) {
    const { contractId } = created;
    // it is disclosed, and archived or in flight
    if (ledger.contracts.get(contractId) === undefined) continue;
    const route = { source, target };
    reassign([{ JsUnassignedEvent: { value: { contractId, ...route } } }], source, submission, participant);
    reassign([{ JsAssignmentEvent: { createdEvent: { contractId }, ...route } }], target, submission, participant);
  }
  return target;
}

/** Rejects a submission that concerns a party which no participant hosts. The parties of its inputs are hosted. */
export function checkInformees(
  { actAs, effects, inputs }: Pick<Unrouted, 'actAs' | 'effects' | 'inputs'>,
  hosted: HostedParties,
): void {
  const known = new Set([...hosted.all, ...inputs.flatMap(({ created }) => stakeholdersOf(created))]);
  const unknown = [...actAs, ...creationsIn(effects).flatMap(stakeholdersOf)].filter((party) => !known.has(party));
  if (unknown.length === 0) return;
  const cause = 'The participant is not connected to any synchronizer where the given informees are known.';
  const context = { unknownInformees: `Set(${[...new Set(unknown)].join(', ')})` };
  throw requestError('UNKNOWN_INFORMEES', cause, { context });
}

const prescribedError = (cause: string): RequestError => requestError('INVALID_PRESCRIBED_SYNCHRONIZER_ID', cause);

/** The synchronizer with the most contracts. */
function mostFrequent(inputs: readonly Contract[]): string | undefined {
  const counts = new Map<string, number>();
  for (const { synchronizerId } of inputs) counts.set(synchronizerId, (counts.get(synchronizerId) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0];
}

/** Commits one half of a reassignment, and writes its completion, which has the ids of the submission. */
export function reassign(
  events: readonly WireReassignmentEventInput[],
  synchronizerId: string,
  submission: SubmissionIds & { readonly size: number; readonly workflowId?: string },
  participant: Participant,
): WireReassignment {
  const { commandId, workflowId = '', trace, size } = submission;
  const [actAs = ''] = submission.actAs;
  const { ledger, completions, inbox } = participant;
  inbox.drain();
  const paidTrafficCost = trafficCost(size);
  const recordTime = ledger.recordTimes.now(synchronizerId);
  const header = { commandId, workflowId, synchronizerId, recordTime, traceContext: trace.context, paidTrafficCost };
  const input = { Reassignment: { value: { ...header, events } } };
  const [entry] = completeUpdates([{ update: input, submitters: [actAs] }], participant);
  if (entry === undefined || !('Reassignment' in entry.update)) throw new Error('a reassignment stays one');
  const { value } = entry.update.Reassignment;
  const { offset, updateId: outcome } = value;
  const ids = { ...submission, actAs: [actAs] };
  completions.add({ submission: ids, outcome, offset, synchronizerId, recordTime, paidTrafficCost });
  participant.commit([entry]);
  return value;
}
