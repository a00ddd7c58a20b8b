/**
 * A store that saves the cursors of processors in the PostgreSQL transactions of their handlers, an outbox of commands that
 * handlers enqueue in them, and a handler that keeps the contracts of a ledger in tables. Needs the package `pg` in addition
 * to `canton-rx`, and runs in Node.js.
 *
 * @module canton-rx/postgres
 */

export { postgresStore, type PostgresStoreOptions } from './postgresStore.js';
export { postgresStoreSql } from './storeTables.js';
export {
  commandOutbox,
  type CommandOutbox,
  type CommandOutboxOptions,
  type Enqueued,
  type EnqueueOptions,
  type ParkedCommand,
} from './outbox/commandOutbox.js';
export type { Decide, DecideContext } from './outbox/decide.js';
export { outboxSql } from './outbox/tables.js';
export type { OutboxStatus, Submissions } from './outbox/OutboxStatus.js';
export type { DecideRequest } from './outbox/requests.js';
export type { Submitted } from './outbox/outcome.js';
export type { SubmitAllOptions } from './outbox/submitAll.js';
export { liveQuery, type LiveQueryOptions } from './liveQuery.js';
export {
  contractsProjection,
  type ContractsProjectionOptions,
  type ProjectionHandler,
} from './projection/contractsProjection.js';
export {
  type MigratedProjection,
  migrateProjection,
  type MigrateProjectionOptions,
  projectionSql,
} from './projection/migrateProjection.js';
