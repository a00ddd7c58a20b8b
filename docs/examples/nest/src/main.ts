import 'reflect-metadata';
import { ConfigService } from '@nestjs/config';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Ledger } from 'canton-rx';
import { runService } from 'canton-rx/service';
import { AppModule } from './app.module.js';
import { Expiry } from './automation/expiry.js';
import { Receipts } from './automation/receipts.js';
import type { Environment } from './config/environment.js';
import { Projection } from './contracts/projection.js';
import { LEDGER } from './ledger/ledger.js';
import { PinoLogger } from './telemetry/pino-logger.js';

const app = await NestFactory.create<NestExpressApplication>(AppModule, {
  bufferLogs: true,
  abortOnError: false,
  // a client that keeps its connection open must not delay the exit
  forceCloseConnections: true,
});
const logger = app.get(PinoLogger);
app.useLogger(logger);
const config = app.get<ConfigService<Environment, true>>(ConfigService);
const host = config.get('HOST', { infer: true });
await app.listen(config.get('PORT', { infer: true }), host);
logger.log(`listening at ${await app.getUrl()}`, 'main');

const { processor } = app.get(Projection);
const { rules } = app.get(Expiry);
const { processors, outboxes } = app.get(Receipts);
// A permanent failure ends the process; its supervisor restarts it, and it continues from the stored position.
runService(
  { ledger: app.get<Ledger>(LEDGER), processors: [processor, ...processors], rules, outboxes },
  {
    host,
    port: config.get('STATUS_PORT', { infer: true }),
    ready: {
      maxAgeMs: config.get('READY_UNSEEN_MS', { infer: true }),
      maxBehindMs: config.get('READY_BEHIND_MS', { infer: true }),
    },
    onFailure: 'stop',
    drainWithinMs: config.get('STOP_WITHIN_MS', { infer: true }),
    // the hooks of the modules run when nothing is in flight any more
    flush: () => app.close(),
    log: (line) => logger.log(line, 'Service'),
  },
).subscribe({ error: () => process.exit(1), complete: () => process.exit(0) });
