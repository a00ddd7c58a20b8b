/**
 * Traces and metrics of a ledger through OpenTelemetry, with almost no cost while the program has registered no SDK. Needs
 * the package `@opentelemetry/api` in addition to `canton-rx`, and runs in browsers and in Node.js.
 *
 * @example
 * ```ts
 * import { createLedger } from 'canton-rx';
 * import { openTelemetry } from 'canton-rx/otel';
 *
 * const ledger = createLedger({ baseUrl: 'http://127.0.0.1:7575', interceptors: [openTelemetry()] });
 * ledger.ledgerEnd().subscribe((offset) => console.log(`the ledger ends at ${offset}`));
 * ```
 *
 * @module canton-rx/otel
 */

export { openTelemetry } from './openTelemetry.js';
export { contextOf, linkTo, type Traced, traceHandler } from './traceContext.js';
export type { Telemetry } from './Recorder.js';
