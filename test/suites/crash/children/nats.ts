import { connect, type NatsConnection } from '@nats-io/transport-node';
import { orders } from './orders.js';

/** A connection that waits for a server as long as that takes. */
export const connected = (): Promise<NatsConnection> =>
  connect({
    servers: orders.storeUrl,
    maxReconnectAttempts: -1,
    waitOnFirstConnect: true,
    reconnectTimeWait: 20,
    timeout: 500,
  });
