import type { describe } from '@jest/globals';
import { describeWithServer } from './describeWithServer.js';
import { hasNats } from './natsProcess.js';

export { natsServer, type NatsServerOptions } from './natsProcess.js';

/** `describe` for tests with a NATS server. */
export const describeWithNats: typeof describe.only = describeWithServer(hasNats, 'nats-server');
