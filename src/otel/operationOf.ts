import type { Attributes, Context } from '@opentelemetry/api';
import { Offset } from '../codecs/Offset.js';
import type { LedgerEvent } from '../events/LedgerEvent.js';
import { countEvent } from './countEvent.js';
import type { Operation } from './Operation.js';
import type { Tracing } from './Tracing.js';

/** What tells one operation from another. */
interface Facts {
  readonly context: () => Context;
  readonly isFeed?: boolean;
  readonly attributes?: Attributes;
  readonly told?: (event: LedgerEvent) => void;
}

/** An operation, whose events are counted, and whose answers tell where the ledger ends. */
export const operationOf = (
  { recorder, followers }: Tracing,
  { context, isFeed = false, attributes = {}, told = () => undefined }: Facts,
): Operation => ({
  context,
  isFeed,
  attributes,
  answered: (path, json) => {
    if (path !== '/v2/state/ledger-end' || typeof json !== 'object' || json === null) return;
    const end: unknown = 'offset' in json ? json.offset : undefined;
    if (Offset.is(end)) followers.endsAt(end);
  },
  told: (event) => {
    countEvent(recorder, attributes, event);
    told(event);
  },
});
