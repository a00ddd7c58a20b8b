/**
 * Traces and metrics of a ledger through OpenTelemetry, with almost no cost while the program has registered no SDK. Needs
 * the package `@opentelemetry/api` in addition to `canton-rx`, and runs in browsers and in Node.js.
 *
 * @example
 * ```ts
 * import { createTracedLedger } from 'canton-rx/otel';
 *
 * const ledger = createTracedLedger({ baseUrl: 'http://127.0.0.1:7575' });
 * ledger.ledgerEnd().subscribe((offset) => console.log(`the ledger ends at ${offset}`));
 * ```
 *
 * @module canton-rx/otel
 */

export { createTracedLedger } from './createTracedLedger.js';
export { contextOf, linkTo, type Traced, traceHandler } from './traceContext.js';
export type { Telemetry } from './Recorder.js';
