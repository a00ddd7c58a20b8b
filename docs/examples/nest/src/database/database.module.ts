import { Global, Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import { Pool } from 'pg';
import type { Environment } from '../config/environment.js';
import { PinoLogger } from '../telemetry/pino-logger.js';
import { POOL } from './pool.js';

/** One pool for the projection and for its readers. */
@Global()
@Module({
  providers: [
    {
      provide: POOL,
      inject: [ConfigService, PinoLogger],
      useFactory: (config: ConfigService<Environment, true>, logger: PinoLogger): Pool => {
        const pool = new Pool({
          connectionString: config.get('DATABASE_URL', { infer: true }),
          // the projection holds one connection
          max: 10,
          connectionTimeoutMillis: 3_000,
          // a database that does not answer is noticed within this time
          query_timeout: 10_000,
        });
        // without a listener, an error of an idle connection would end the process
        pool.on('error', ({ message }) => logger.warn(message, 'Database'));
        return pool;
      },
    },
  ],
  exports: [POOL],
})
export class DatabaseModule implements OnApplicationShutdown {
  constructor(@Inject(POOL) private readonly pool: Pool) {}

  async onApplicationShutdown(): Promise<void> {
    const closed = this.pool.end().catch(() => undefined);
    // a database that does not answer must not delay the exit
    await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, 1_000))]);
  }
}
