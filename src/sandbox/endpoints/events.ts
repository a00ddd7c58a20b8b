import { requestError } from '../errors.js';
import { type Answer, type Call, jsonAnswer } from '../http/Call.js';
import { checkFilters } from '../ledger/checkFilters.js';
import type { Ledger } from '../ledger/Ledger.js';
import { visibleTransaction } from '../ledger/visible.js';
import { readEventFormat } from '../requests/formats.js';
import { missingField, parseBody } from '../requests/JsonCursor.js';
import { archivedEvent } from '../wire/events.js';
import type { WireEvent } from '../wire/WireEvent.js';
import type { WireTransaction } from '../wire/WireUpdate.js';

/** `POST /v2/events/events-by-contract-id`: the creation and the archive of a contract. Assignments are not found. */
export function getEventsByContractId({ body, participant }: Call): Answer {
  const { ledger, settings } = participant;
  const { profile } = settings;
  const request = parseBody(body);
  const contractId = request.required('contractId').string();
  const events = request.field('eventFormat').optional((format) => readEventFormat(format, profile));
  if (events === undefined) throw missingField('event_format');
  checkFilters(ledger.packages, events);
  const [creation, archive] = findEvents(contractId, ledger).map(({ transaction, event, ledgerEffects = false }) => {
    const format = { events, ledgerEffects };
    const [visible]: readonly VisibleEvent[] = visibleTransaction({ ...transaction, events: [event] }, format, {
      ledger,
      profile,
    }).events;
    return { visible, transaction };
  });
  const createdEvent = creation?.visible?.CreatedEvent;
  const archived = archive?.visible?.ArchivedEvent;
  if (createdEvent === undefined || (archive?.transaction.offset ?? Infinity) <= ledger.pruned)
    throw requestError('CONTRACT_EVENTS_NOT_FOUND', 'Contract events not found, or not visible.');
  // participants report the synchronizer of the creation, even after a reassignment
  const { synchronizerId } = creation?.transaction ?? {};
  return jsonAnswer({
    created: { createdEvent, synchronizerId },
    archived: archived === undefined ? null : { archivedEvent: archived, synchronizerId },
  });
}

interface VisibleEvent {
  readonly CreatedEvent?: object;
  readonly ArchivedEvent?: object;
}

interface FoundEvent {
  readonly transaction: WireTransaction;
  readonly event: WireEvent;
  /** Whether witnesses also see it. */
  readonly ledgerEffects?: boolean;
}

/** The creation of a contract, and its archive if there is one. */
function findEvents(contractId: string, { updates }: Ledger): readonly FoundEvent[] {
  const found = updates.flatMap((update) => {
    if (!('Transaction' in update)) return [];
    const { value: transaction } = update.Transaction;
    return (
      findTransient(contractId, transaction) ??
      transaction.events.filter(isOf(contractId)).map((event) => ({ transaction, event }))
    );
  });
  const first = found.findIndex(({ event }) => 'CreatedEvent' in event);
  return first < 0 ? [] : found.slice(first);
}

/** The creation and the archive of a contract in one transaction, which are stored without an archived event. */
function findTransient(contractId: string, transaction: WireTransaction): readonly FoundEvent[] | undefined {
  const { events } = transaction;
  const creation = events.filter(isOf(contractId)).find((event) => 'CreatedEvent' in event);
  if (creation === undefined || creation.CreatedEvent.acsDelta) return undefined;
  const exercises = events.flatMap((event) => ('ExercisedEvent' in event ? event.ExercisedEvent : []));
  const archive = exercises.find((exercise) => exercise.contractId === contractId && exercise.consuming);
  if (archive === undefined) return undefined;
  return [
    { transaction, event: creation, ledgerEffects: true },
    { transaction, event: { ArchivedEvent: archivedEvent(archive) } },
  ];
}

const isOf = (contractId: string) => (event: WireEvent) =>
  ('CreatedEvent' in event && event.CreatedEvent.contractId === contractId) ||
  ('ArchivedEvent' in event && event.ArchivedEvent.contractId === contractId);
