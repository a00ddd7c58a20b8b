/**
 * Traces and metrics of a ledger, by the API of OpenTelemetry. Needs `@opentelemetry/api` beside `canton-rx`, and does
 * next to nothing while a program has no SDK of it.
 *
 * @module canton-rx/otel
 */

export { createTracedLedger } from './createTracedLedger.js';
export { contextOf } from './traceContext.js';
export { linkTo } from './traceContext.js';
export { traceHandler } from './handler.js';
export type { Telemetry } from './Recorder.js';
export type { Traced } from './traceContext.js';
