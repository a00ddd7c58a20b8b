/**
 * A relay that publishes the updates of a ledger to a NATS JetStream stream, and a feed that reads them there. Needs the
 * packages `@nats-io/nats-core`, `@nats-io/jetstream` and `@nats-io/kv` in addition to `canton-rx`, and a transport for
 * your platform, such as `@nats-io/transport-node`.
 *
 * @module canton-rx/nats
 */

export { natsRelay, type NatsRelay, type NatsRelayOptions } from './natsRelay.js';
export { natsFeed, type NatsFeedOptions } from './natsFeed.js';
export type { NatsPosition } from './NatsPosition.js';
export { RelayError, type RelayReason } from './RelayError.js';
