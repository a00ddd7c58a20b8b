import type { Observable } from 'rxjs';

/** Whether a processor is to stop. */
export interface Stop {
  /** Emits when it is to. */
  readonly stop$: Observable<unknown>;
  readonly isStopped: () => boolean;
}
