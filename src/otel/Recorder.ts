import type { Attributes, Context, Span, SpanOptions } from '@opentelemetry/api';
import type { Instruments } from './Instruments.js';

/** How spans and measurements of one ledger are made; nothing of it throws. */
export interface Recorder {
  /** What tells the ledger from others. */
  readonly ledger: Attributes;
  /** Starts a span; one that does nothing where that fails. */
  readonly startSpan: (name: string, options: SpanOptions, context: Context) => Span;
  /** Measures. */
  readonly measure: (use: (instruments: Instruments, ledger: Attributes) => void) => void;
  /** Of which kind an error is; one of a bounded number. */
  readonly errorType: (error: unknown) => string;
  /** A synchronizer's id; one of a bounded number. */
  readonly synchronizer: (id: string) => string;
}
