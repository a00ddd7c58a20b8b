/**
 * Traces and metrics of a ledger with OpenTelemetry. Needs `@opentelemetry/api` beside `canton-rx`, and has almost no cost
 * while the program has registered no SDK.
 *
 * @module canton-rx/otel
 */

export { createTracedLedger } from './createTracedLedger.js';
export { contextOf } from './traceContext.js';
export { linkTo } from './traceContext.js';
export { traceHandler } from './handler.js';
export type { Telemetry } from './Recorder.js';
export type { Traced } from './traceContext.js';
