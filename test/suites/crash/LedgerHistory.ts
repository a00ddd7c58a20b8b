import { updateValue } from '../../../src/sandbox/wire/WireUpdate.js';
import type { WireCreatedEvent, WireExercisedEvent, WireUpdate } from '../../../src/sandbox/index.js';
import { LedgerStates } from './LedgerStates.js';

/** Offsets of which a table knows no updates: those after the first, up to and with the second. */
export interface Gap {
  readonly before: number;
  readonly offset: number;
}

/** What a table must have of an update. */
export interface HistoryEntry {
  readonly offset: number;
  readonly updateId: string;
  /** The ledger time; for a reassignment, the record time. */
  readonly effectiveAt: string;
  /** The ids of contracts that it made visible. */
  readonly appeared: readonly string[];
  /** The ids of contracts that are no longer there. */
  readonly disappeared: readonly string[];
  readonly exercises: readonly WireExercisedEvent[];
  /** Whether contracts are changed, moved or exercised. */
  readonly isChange: boolean;
}

/** The updates of a ledger that are in no gap, with what each changed; made without the library. */
export function historyOf(updates: readonly WireUpdate[], gaps: readonly Gap[]): readonly HistoryEntry[] {
  const states = new LedgerStates(updates);
  const before = new Map<string, unknown>();
  return updates.flatMap((update): readonly HistoryEntry[] => {
    const { offset, updateId, recordTime } = updateValue(update);
    const after = states.at(offset);
    const touched = contractsIn(update);
    const appeared = touched.filter((id) => after.has(id) && !before.has(id));
    const disappeared = touched.filter((id) => !after.has(id) && before.has(id));
    const isMove = touched.some((id) => before.has(id) && after.get(id) !== before.get(id));
    for (const id of touched) {
      const state = after.get(id);
      if (state === undefined) before.delete(id);
      else before.set(id, state);
    }
    if (gaps.some((gap) => gap.before < offset && offset <= gap.offset)) return [];
    const exercises = 'Transaction' in update ? exercisesIn(update.Transaction.value.events) : [];
    const effectiveAt = 'Transaction' in update ? update.Transaction.value.effectiveAt : recordTime;
    const isChange = appeared.length + disappeared.length + exercises.length > 0 || isMove;
    return [{ offset, updateId, effectiveAt, appeared, disappeared, exercises, isChange }];
  });
}

/** The created events of a ledger by contract: the first of each. */
export function creationsOf(updates: readonly WireUpdate[]): ReadonlyMap<string, WireCreatedEvent> {
  const creations = new Map<string, WireCreatedEvent>();
  for (const update of updates) {
    for (const event of updateValue(update).events) {
      const created = createdIn(event);
      if (created !== undefined && !creations.has(created.contractId)) creations.set(created.contractId, created);
    }
  }
  return creations;
}

type AnyWireEvent = ReturnType<typeof updateValue>['events'][number];

function createdIn(event: AnyWireEvent): WireCreatedEvent | undefined {
  if ('CreatedEvent' in event) return event.CreatedEvent;
  return 'JsAssignmentEvent' in event ? event.JsAssignmentEvent.createdEvent : undefined;
}

/** The ids of the contracts of an update, each once. */
function contractsIn(update: WireUpdate): readonly string[] {
  const ids = updateValue(update).events.flatMap((event: AnyWireEvent) => {
    if ('ArchivedEvent' in event) return event.ArchivedEvent.contractId;
    if ('JsUnassignedEvent' in event) return event.JsUnassignedEvent.value.contractId;
    return createdIn(event)?.contractId ?? [];
  });
  return [...new Set(ids)];
}

const exercisesIn = (events: readonly AnyWireEvent[]): readonly WireExercisedEvent[] =>
  events.flatMap((event) => ('ExercisedEvent' in event ? event.ExercisedEvent : []));
