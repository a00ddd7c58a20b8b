import { ConfigurableModuleBuilder, Global, Module } from '@nestjs/common';
import type { Ledger, LedgerOptions } from 'canton-rx';
import { createTracedLedger } from 'canton-rx/otel';
import { OpenTelemetry } from '../telemetry/open-telemetry.js';
import { LEDGER } from './ledger.js';
import { Selection } from './selection.js';

const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } = new ConfigurableModuleBuilder<LedgerOptions>()
  .setClassMethodName('forRoot')
  .build();

/** One ledger for the whole service: what it learns of the participant, all feeds know. It sends nothing by itself. */
@Global()
@Module({
  providers: [
    {
      provide: LEDGER,
      inject: [MODULE_OPTIONS_TOKEN, OpenTelemetry],
      // createLedger(options) for one that nobody traces
      useFactory: (options: LedgerOptions, { providers }: OpenTelemetry): Ledger =>
        createTracedLedger(options, providers),
    },
    Selection,
  ],
  exports: [LEDGER, Selection],
})
export class LedgerModule extends ConfigurableModuleClass {}
