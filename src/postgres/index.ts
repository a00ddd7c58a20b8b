/**
 * Saves the cursors of processors in PostgreSQL, in the transactions in which their handlers work.
 *
 * @module canton-rx/postgres
 */

export { postgresStore, type PostgresStoreOptions } from './postgresStore.js';
export { postgresTables } from './tables.js';
