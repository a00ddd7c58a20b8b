/**
 * Relays a ledger's updates through a stream of NATS JetStream. Needs `@nats-io/nats-core` and `@nats-io/jetstream`
 * beside `canton-rx`, and a transport such as `@nats-io/transport-node`.
 *
 * @module canton-rx/nats
 */

export { natsRelay, type NatsRelay, type NatsRelayOptions } from './natsRelay.js';
export { natsFeed } from './natsFeed.js';
export type { NatsFeedOptions } from './NatsFeedOptions.js';
export type { NatsPosition } from './NatsPosition.js';
export { isRelayError, RelayError, type RelayReason } from './RelayError.js';
