import type { EventFormat } from './EventFormat.js';
import type { UpdateFormat } from './UpdateFormat.js';

/** What a legacy filter stands for. */
export function legacyFormat(events: EventFormat): UpdateFormat {
  return {
    transactions: { events, ledgerEffects: false },
    reassignments: events,
    topology: [...events.byParty.keys()],
  };
}
