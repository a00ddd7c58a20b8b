import { contractIdOf } from '../wire/contractIdOf.js';
import { stakeholdersOf } from '../wire/stakeholdersOf.js';
import type { WireReassignment } from '../wire/WireReassignment.js';
import type { WireReassignmentEvent } from '../wire/WireReassignmentEvent.js';
import type { WireReassignmentEventInput } from '../wire/WireReassignmentEventInput.js';
import { completeCreated } from './completeCreated.js';
import { completeHeader } from './completeHeader.js';
import type { Fallbacks } from './Fallbacks.js';
import type { Moment } from './Moment.js';

type Input = Partial<Omit<WireReassignment, 'events'>> & { readonly events?: readonly WireReassignmentEventInput[] };

/** Fills in what a reassignment made by hand leaves out. */
export function completeReassignment(input: Input, fallbacks: Fallbacks): WireReassignment {
  const header = completeHeader(input, fallbacks);
  const moment = { offset: header.offset, at: header.recordTime };
  return {
    commandId: '',
    workflowId: '',
    traceContext: null,
    paidTrafficCost: null,
    ...input,
    ...header,
    events: (input.events ?? []).map((event, index) => completeMove(event, index, moment, fallbacks)),
  };
}

function completeMove(
  input: WireReassignmentEventInput,
  nodeId: number,
  moment: Moment,
  { ledger, synchronizers }: Fallbacks,
): WireReassignmentEvent {
  const [source = '', target = source] = synchronizers;
  const given =
    'JsAssignmentEvent' in input ? (input.JsAssignmentEvent.createdEvent ?? {}) : input.JsUnassignedEvent.value;
  const contractId = given.contractId ?? contractIdOf('appended', moment.offset, nodeId, ledger.commits);
  const known = ledger.contracts.get(contractId);
  const reassignmentCounter = (known?.reassignmentCounter ?? 0) + 1;
  const move = { source: known?.synchronizerId ?? source, target, reassignmentId: '0001', reassignmentCounter };
  if ('JsAssignmentEvent' in input) {
    const createdEvent = completeCreated({ nodeId, ...given, contractId }, moment, ledger);
    const [submitter = ''] = createdEvent.signatories;
    return { JsAssignmentEvent: { ...move, submitter, ...input.JsAssignmentEvent, createdEvent } };
  }
  const created = known?.created ?? completeCreated({ ...given, contractId }, moment, ledger);
  const { templateId, packageName } = created;
  const [submitter = ''] = created.signatories;
  const parties = { submitter, witnessParties: stakeholdersOf(created) };
  const place = { contractId, templateId, packageName, offset: moment.offset, nodeId, assignmentExclusivity: null };
  return {
    JsUnassignedEvent: { value: { ...move, ...parties, ...place, ...input.JsUnassignedEvent.value, templateId } },
  };
}
