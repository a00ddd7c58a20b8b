import type { describe } from '@jest/globals';
import { describeWithServer } from './describeWithServer.js';
import { hasPostgres } from './postgresProcess.js';

export { hasPostgres, postgresServer, type PostgresServer } from './postgresProcess.js';

/** `describe` for tests with PostgreSQL. */
export const describeWithPostgres: typeof describe.only = describeWithServer(hasPostgres, 'postgresql');
