import type { ExecuteRequest } from '../codecs/ExecuteRequest.js';
import type { Submission } from '../errors/Submission.js';
import type { Service } from '../feed/Service.js';
import type { CompleteRetryPolicy } from '../http/RetryPolicy.js';

/** What stays the same through all tries of one submission. */
export interface Sending {
  readonly service: Service;
  /** Checked. */
  readonly request: ExecuteRequest;
  readonly submission: Omit<Submission, 'attempts'>;
  /** Whether it is sent for the first time at all. */
  readonly isFirst: boolean;
  /** Whether another subscription of the same change may have committed it. */
  readonly isOpenElsewhere: () => boolean;
  /** How long to go on after a failure; 0 for a single try. */
  readonly withinMs: number;
  readonly retry: CompleteRetryPolicy;
  /** Where it is known: by it a transaction that is read back is recognised. */
  readonly commandId: string | undefined;
}

/** How far it has come. */
export interface Tried {
  readonly attempts: number;
  /** Whether a try may have been committed. */
  readonly isUnknown: boolean;
  /** How much of `withinMs` is used up. */
  readonly spentMs: number;
}
