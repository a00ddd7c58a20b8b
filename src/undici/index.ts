/**
 * HTTP for Node.js by the package `undici`, faster than by `fetch`.
 *
 * @module canton-rx/undici
 */

export { undiciPort, type UndiciPortOptions } from './undiciPort.js';
