import type { Observable } from 'rxjs';
import type { Offset } from '../codecs/Offset.js';
import type { Page } from './Page.js';

/** A range that is being read, or has been: whoever subscribes gets the same answer. After a failure it is asked for anew. */
export interface Reading {
  readonly beginExclusive: Offset;
  readonly endInclusive: Offset;
  readonly answer$: Observable<Answered>;
  /** Reads it ahead of its turn: once, whatever comes of it, and only as long as somebody subscribes. */
  readonly ahead$: Observable<never>;
}

/** What the service has answered. */
export interface Answered {
  readonly page: Page;
  /** There is nothing more up to here. */
  readonly reached: Offset;
  /** How many requests that took, one after the other. */
  readonly requests: number;
}
