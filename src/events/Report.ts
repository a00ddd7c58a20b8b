import { asyncScheduler } from 'rxjs';
import type { Happening } from './Happening.js';
import type { Listeners } from './Listeners.js';

/** Tells what happens. What is told is made only if somebody listens. */
export type Report = (happening: () => Happening) => void;

/** Reports to those who listen, on behalf of a feed or of none. */
export const reportTo =
  (events: Pick<Listeners, 'observed' | 'next'>, feed?: number): Report =>
  (happening) => {
    if (events.observed) events.next({ ...happening(), at: asyncScheduler.now(), ...(feed !== undefined && { feed }) });
  };
