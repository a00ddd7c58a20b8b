import type { HttpResponse } from '../../../../src/http/HttpPort.js';
import { active } from '../../../helpers/contractEvents.js';
import type { Reply, ServiceRequest } from '../../../helpers/scripted.js';
import { errorBody, errorReply, ok } from '../../../helpers/wire.js';
import { type RecordedEvent, seenOf, type Sight } from './History.js';
import type { Listed, Participant } from './Participant.js';

/** The answer to a request for active contracts: one page. */
export function snapshotOf(node: Participant, body: ServiceRequest['body'], sees: (sight: Sight) => boolean): Reply {
  const requested = Number(body['activeAtOffset'] ?? 0);
  const activeAtOffset = requested === 0 ? node.end : requested;
  if (activeAtOffset > node.end) return errorReply(400, errorBody('OFFSET_AFTER_LEDGER_END', 12));
  if (activeAtOffset < node.pruned) return prunedReply(node);
  const activeContracts = [...contractsOf(node.listing, activeAtOffset, sees).values()].map(({ event, at }) =>
    active({ contractId: event.contractId, offset: at.offset }, at.record.synchronizerId),
  );
  return ok({ activeContracts, activeAtOffset, nextPageToken: null });
}

/** The contracts of a participant at an offset that a reader sees, with their places. */
export function contractsOf(
  listing: readonly Listed[],
  offset: number,
  sees: (sight: Sight) => boolean,
): ReadonlyMap<string, Activated> {
  const contracts = new Map<string, Activated>();
  for (const at of listing)
    for (const event of at.offset <= offset ? seenOf(at.record, sees) : [])
      if (event.kind === 'create') contracts.set(event.contractId, { event, at });
      else contracts.delete(event.contractId);
  return contracts;
}

interface Activated {
  readonly event: RecordedEvent;
  readonly at: Listed;
}

/** The refusal of what a participant has pruned. */
const prunedReply = ({ pruned }: Participant): HttpResponse =>
  errorReply(400, errorBody('PARTICIPANT_PRUNED_DATA_ACCESSED', 9, { earliest_offset: String(pruned) }));

/** The refusal of a range of updates; `undefined` if the participant has it. */
export function refusalOf(node: Participant, begin: number, bound = begin): HttpResponse | undefined {
  if (Math.max(begin, bound) > node.end) return errorReply(400, errorBody('OFFSET_AFTER_LEDGER_END', 12));
  if (begin < node.pruned) return prunedReply(node);
  return begin > bound ? errorReply(400, errorBody('OFFSET_OUT_OF_RANGE', 9)) : undefined;
}
