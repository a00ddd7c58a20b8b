import type { Handler } from './Handler.js';

/** An endpoint. */
export interface Route {
  readonly method: 'GET' | 'POST';
  readonly handler: Handler;
  /** Whether it asks for no token. */
  readonly open?: boolean;
  /** Whether a service reduced to the two operations has it. */
  readonly essential?: boolean;
}
