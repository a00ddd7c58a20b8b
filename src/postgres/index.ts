/**
 * Saves the cursors of processors in PostgreSQL, in the transactions in which their handlers work, and keeps the contracts of
 * a ledger in tables.
 *
 * @module canton-rx/postgres
 */

export { postgresStore, type PostgresStoreOptions } from './postgresStore.js';
export { postgresTables } from './tables.js';
export {
  contractsProjection,
  type ContractsProjectionOptions,
  type ProjectionHandler,
} from './projection/contractsProjection.js';
export {
  type MigratedProjection,
  migrateProjection,
  type MigrateProjectionOptions,
  projectionTables,
} from './projection/migrateProjection.js';
