/**
 * WebSockets for Node.js, by the package `ws`.
 *
 * @module canton-rx/ws
 */

export { wsPort, type WsPortOptions } from './wsPort.js';
