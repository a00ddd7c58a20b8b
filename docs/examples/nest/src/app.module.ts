import { Module } from '@nestjs/common';
import { ConfigModule, ConfigService } from '@nestjs/config';
import { undiciPort } from 'canton-rx/undici';
import { AutomationModule } from './automation/automation.module.js';
import { Environment } from './config/environment.js';
import { ContractsModule } from './contracts/contracts.module.js';
import { DatabaseModule } from './database/database.module.js';
import { LedgerModule } from './ledger/ledger.module.js';
import { tokenOf } from './ledger/token-of.js';
import { SubmissionsModule } from './submissions/submissions.module.js';
import { TelemetryModule } from './telemetry/telemetry.module.js';
import { UpdatesModule } from './updates/updates.module.js';
import { UsersModule } from './users/users.module.js';

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
    DatabaseModule,
    ContractsModule,
    SubmissionsModule,
    AutomationModule,
    UpdatesModule,
    UsersModule,
  ],
})
export class AppModule {}
