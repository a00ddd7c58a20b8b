/**
 * A store that saves the cursors of processors in the PostgreSQL transactions of their handlers, and a handler that keeps
 * the contracts of a ledger in tables. Needs the package `pg` in addition to `canton-rx`, and runs in Node.js.
 *
 * @module canton-rx/postgres
 */

export { postgresStore, type PostgresStoreOptions } from './postgresStore.js';
export { postgresStoreSql } from './tables.js';
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
