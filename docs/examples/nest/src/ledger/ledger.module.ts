import { ConfigurableModuleBuilder, Global, Module } from '@nestjs/common';
import { createLedger, type Ledger, type LedgerOptions } from 'canton-rx';
import { openTelemetry } from 'canton-rx/otel';
import { OpenTelemetry } from '../telemetry/open-telemetry.js';
import { LEDGER } from './ledger.js';
import { Selection } from './selection.js';

const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } = new ConfigurableModuleBuilder<LedgerOptions>()
  .setClassMethodName('forRoot')
  .build();

/** One ledger for all feeds, which share what it learns about the participant. It sends no requests by itself. */
@Global()
@Module({
  providers: [
    {
      provide: LEDGER,
      inject: [MODULE_OPTIONS_TOKEN, OpenTelemetry],
      useFactory: (options: LedgerOptions, { providers }: OpenTelemetry): Ledger =>
        createLedger({ ...options, interceptors: [openTelemetry(providers)] }),
    },
    Selection,
  ],
  exports: [LEDGER, Selection],
})
export class LedgerModule extends ConfigurableModuleClass {}
