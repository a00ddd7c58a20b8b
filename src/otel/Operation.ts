import type { Attributes, Context } from '@opentelemetry/api';
import type { LedgerEvent } from '../events/LedgerEvent.js';

/** One use of a ledger, such as a subscription to a feed, as telemetry sees it. */
export interface Operation {
  /** In which context its requests are made, and what comes of them goes on. */
  readonly context: () => Context;
  /** Whether its polls go on for ever: each is then a trace of its own, with a link to that of the subscriber. */
  readonly isFeed: boolean;
  /** What its metrics have in common, beside the ledger's. */
  readonly attributes: Attributes;
  /** Called with the JSON of each answer. */
  readonly answered: (path: string, json: unknown) => void;
  /** Called with everything that happens to it. */
  readonly told: (event: LedgerEvent) => void;
}
