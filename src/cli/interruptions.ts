import { fromEvent, merge, type Observable } from 'rxjs';
import type { Signals } from './World.js';

/**
 * Ctrl-C, and what a supervisor sends to end a process. Nothing listens any more once it is unsubscribed, so that a second
 * Ctrl-C ends a process that takes its time.
 */
export const interruptions = (signals: Signals): Observable<unknown> =>
  merge(fromEvent(signals, 'SIGINT'), fromEvent(signals, 'SIGTERM'));
