import { ConfigurableModuleBuilder, Global, Module } from '@nestjs/common';
import { createLedger, type LedgerOptions } from 'canton-rx';
import { LEDGER } from './ledger.js';
import { Selection } from './selection.js';

const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } = new ConfigurableModuleBuilder<LedgerOptions>()
  .setClassMethodName('forRoot')
  .build();

/** One ledger for the whole service: what it learns of the participant, all feeds know. It sends nothing by itself. */
@Global()
@Module({
  providers: [{ provide: LEDGER, useFactory: createLedger, inject: [MODULE_OPTIONS_TOKEN] }, Selection],
  exports: [LEDGER, Selection],
})
export class LedgerModule extends ConfigurableModuleClass {}
