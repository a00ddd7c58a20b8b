/**
 * Traces and metrics of a ledger, by the API of OpenTelemetry. Needs `@opentelemetry/api` beside `canton-rx`, and does
 * next to nothing while a program has no SDK of it.
 *
 * @module canton-rx/otel
 */

export { createTracedLedger } from './createTracedLedger.js';
export { contextOf } from './contextOf.js';
export { linkTo } from './linkTo.js';
export { traceHandler } from './traceHandler.js';
export type { Telemetry } from './Telemetry.js';
export type { Traced } from './Traced.js';
