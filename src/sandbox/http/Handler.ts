import type { Answer } from './Answer.js';
import type { Call } from './Call.js';

/** What an endpoint does. */
export type Handler = (call: Call) => Answer | Promise<Answer>;
