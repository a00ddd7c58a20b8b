import type * as t from 'io-ts';
import { message } from './internal/message.js';
import { optional } from './internal/optional.js';
import { repeated } from './internal/repeated.js';
import { tag } from './internal/tag.js';
import { text } from './internal/text.js';
import { Offset } from './Offset.js';
import { Timestamp } from './Timestamp.js';
import { TopologyEvent } from './TopologyEvent.js';
import { TraceContext } from './TraceContext.js';

/** The hosting of parties changed. */
export interface TopologyTransaction {
  /** The variant. */
  readonly _tag: 'TopologyTransaction';
  /** The same on every participant that sees it. */
  readonly updateId: string;
  /** What changed. */
  readonly events: readonly TopologyEvent[];
  /** Where it stands on this participant's ledger. */
  readonly offset: Offset;
  /** The synchronizer whose topology changed. */
  readonly synchronizerId: string;
  /** The trace in which it was submitted. */
  readonly traceContext?: TraceContext;
  /** When the synchronizer recorded it. */
  readonly recordTime: Timestamp;
}

/** Codec of `TopologyTransaction`, the JsTopologyTransaction of the ledger's own documents. */
export const TopologyTransaction: t.Type<TopologyTransaction, unknown> = message<TopologyTransaction>(
  'TopologyTransaction',
  {
    _tag: tag('TopologyTransaction'),
    updateId: text,
    events: repeated(TopologyEvent),
    offset: Offset,
    synchronizerId: text,
    traceContext: optional(TraceContext),
    recordTime: Timestamp,
  },
);
