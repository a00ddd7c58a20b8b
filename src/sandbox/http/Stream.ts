import type { Call } from './Call.js';

/** What an endpoint does for a WebSocket: the body of the call is the first message, each element becomes one. */
export type Stream = (call: Call) => AsyncIterable<object>;
