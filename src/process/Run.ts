import type { Observable } from 'rxjs';
import type { Offset } from '../codecs/Offset.js';
import type { Report } from '../events/Report.js';
import type { CompleteRetryPolicy } from '../http/RetryPolicy.js';
import type { Transactions } from './CheckpointStore.js';
import type { Cursor } from './Cursor.js';
import type { Work } from './Handler.js';
import type { Stop } from './Stop.js';

/** What handles updates and keeps the place, while a processor holds its name. */
export interface Run extends Stop, Rules, Handling {
  readonly transactions: Transactions<unknown>;
  /** Whether what a handler did is rolled back when it fails. */
  readonly isTransactional: boolean;
  readonly load$: Observable<unknown>;
  readonly save: (cursor: Cursor, tx: unknown) => Observable<unknown>;
  readonly park: (offset: Offset, parked: unknown, tx: unknown) => Observable<unknown>;
  /** The path at which updates are asked for. */
  readonly path: string;
  readonly report: Report;
}

/** How a processor works, with its defaults. */
export interface Rules {
  readonly select: (update: Work) => boolean;
  readonly takesBatches: boolean;
  readonly commitEveryMs: number;
  readonly commitEveryUpdates: number;
  readonly handlerRetry: CompleteRetryPolicy;
  readonly onPoison: 'stop' | 'skip' | 'park';
}

/** A handler: of one update, or of several where it takes batches. A method, for no type says which of the two it is. */
export interface Handling {
  handle(work: Work | readonly Work[], tx: unknown): unknown;
}
