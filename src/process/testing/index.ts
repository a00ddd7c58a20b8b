/**
 * Runs a handler in a test as a processor does, in a transaction that is rolled back. Needs no other package than `canton-rx`, and runs
 * in browsers and in Node.js.
 *
 * @module canton-rx/process/testing
 */

export { type HandlerRun, runHandler, type RunHandlerOptions } from './runHandler.js';
