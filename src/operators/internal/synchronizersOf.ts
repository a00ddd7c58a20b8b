import type { ReassignmentEvent } from '../../codecs/ReassignmentEvent.js';
import type { Update } from '../../codecs/Update.js';
import { isRecord } from '../../codecs/internal/isRecord.js';

/** The synchronizers that an update tells of; none where it does not say. */
export function synchronizersOf(update: Update): readonly string[] {
  switch (update._tag) {
    case 'Transaction':
    case 'TopologyTransaction':
      return [update.synchronizerId];
    case 'Reassignment':
      return update.synchronizerId === undefined ? update.events.flatMap(placeOf) : [update.synchronizerId];
    case 'OffsetCheckpoint':
      return update.synchronizerTimes.map(({ synchronizerId }) => synchronizerId);
    case 'UnknownUpdate':
      return statedIn(update.value);
  }
}

/** Where a reassignment's event happened: 3.3 says so in the events alone. */
function placeOf(event: ReassignmentEvent): readonly string[] {
  switch (event._tag) {
    case 'JsUnassignedEvent':
      return [event.source];
    case 'JsAssignmentEvent':
      return [event.target];
    case 'UnknownEvent':
      return [];
  }
}

/** `{"synchronizerId": ...}`, or the same in the `{"value": ...}` in which the wire wraps updates. */
function statedIn(value: unknown): readonly string[] {
  if (!isRecord(value)) return [];
  const wrapped = isRecord(value['value']) ? value['value']['synchronizerId'] : undefined;
  return [value['synchronizerId'], wrapped].filter((id) => typeof id === 'string');
}
