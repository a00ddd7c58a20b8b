import type { FeedHappening } from './FeedHappening.js';
import type { ProcessHappening } from './ProcessHappening.js';
import type { SubmissionHappening } from './SubmissionHappening.js';

/** What happens to a ledger, its feeds and its submissions, without when and to which. */
export type Happening = FeedHappening | ProcessHappening | SubmissionHappening | TokenRefreshed;

/** The service refused a token, and the provider had another. */
export interface TokenRefreshed {
  /** Tells the events apart. */
  readonly _tag: 'TokenRefreshed';
  /** The path of the request that was refused. */
  readonly path: string;
}
