import { Module } from '@nestjs/common';
import { ConfigModule, ConfigService } from '@nestjs/config';
import { undiciPort } from 'canton-rx/undici';
import { Environment } from './config/environment.js';
import { HealthModule } from './health/health.module.js';
import { LedgerModule } from './ledger/ledger.module.js';
import { tokenOf } from './ledger/token-of.js';
import { ProjectionModule } from './projection/projection.module.js';
import { TelemetryModule } from './telemetry/telemetry.module.js';
import { UpdatesModule } from './updates/updates.module.js';

@Module({
  imports: [
    // otherwise Nest would read empty variables from the environment without the schema
    ConfigModule.forRoot({ isGlobal: true, validationSchema: Environment, skipProcessEnv: true }),
    TelemetryModule,
    LedgerModule.forRootAsync({
      inject: [ConfigService],
      useFactory: (config: ConfigService<Environment, true>) => ({
        baseUrl: config.get('LEDGER_URL', { infer: true }),
        requestTimeoutMs: config.get('LEDGER_TIMEOUT_MS', { infer: true }),
        // faster than fetch
        port: undiciPort(),
        token: tokenOf({
          file: config.get('LEDGER_TOKEN_FILE', { infer: true }),
          token: config.get('LEDGER_TOKEN', { infer: true }),
        }),
      }),
    }),
    ProjectionModule,
    UpdatesModule,
    HealthModule,
  ],
})
export class AppModule {}
