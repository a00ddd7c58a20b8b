import { asyncScheduler, type Subject } from 'rxjs';
import type { Happening } from './Happening.js';
import type { LedgerEvent } from './LedgerEvent.js';

/** Tells what happens. What is told is made only if somebody listens. */
export type Report = (happening: () => Happening) => void;

/** Reports to those who listen, on behalf of a feed or of none. */
export const reportTo =
  (events: Subject<LedgerEvent>, feed?: number): Report =>
  (happening) => {
    if (events.observed) events.next({ ...happening(), at: asyncScheduler.now(), ...(feed !== undefined && { feed }) });
  };
