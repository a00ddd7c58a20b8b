import 'reflect-metadata';
import { ConfigService } from '@nestjs/config';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { AppModule } from './app.module.js';
import { Expiry } from './automation/expiry.js';
import { Receipts } from './automation/receipts.js';
import type { Environment } from './config/environment.js';
import { Projection } from './contracts/projection.js';
import { PinoLogger } from './telemetry/pino-logger.js';

const app = await NestFactory.create<NestExpressApplication>(AppModule, {
  bufferLogs: true,
  abortOnError: false,
  // a client that keeps its connection open must not delay the exit
  forceCloseConnections: true,
});
const logger = app.get(PinoLogger);
app.useLogger(logger);
// by default Nest ends the process with the signal, which looks like a crash
app.enableShutdownHooks(['SIGTERM', 'SIGINT'], { useProcessExit: true });

const config = app.get<ConfigService<Environment, true>>(ConfigService);
await app.listen(config.get('PORT', { infer: true }), config.get('HOST', { infer: true }));
logger.log(`listening at ${await app.getUrl()}`, 'main');

// the last line of the log, after the hooks of the shutdown
const projection = app.get(Projection);
process.once('exit', (code) => {
  logger.log(`stopped with code ${code}; saved up to offset ${projection.status?.offset ?? 'none'}`, 'main');
});

// a permanent failure ends the process; its supervisor restarts it, and it continues from the stored position
const endWith = (name: string) => async (error: unknown) => {
  logger.fatal(error, name);
  await app.close();
  process.exit(1);
};
projection.over.catch(endWith('Projection'));
app.get(Expiry).over.catch(endWith('Expiry'));
app.get(Receipts).over.catch(endWith('Receipts'));
