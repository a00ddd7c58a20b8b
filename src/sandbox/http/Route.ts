import type { Handler } from './Handler.js';
import type { Stream } from './Stream.js';

/** An endpoint. */
export interface Route {
  readonly method: 'GET' | 'POST';
  readonly handler: Handler;
  /** What a WebSocket to it gets. */
  readonly stream?: Stream;
  /** Whether it asks for no token. */
  readonly open?: boolean;
  /** Whether a service reduced to the two operations has it. */
  readonly essential?: boolean;
}
