import 'reflect-metadata';
import { ConfigService } from '@nestjs/config';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { AppModule } from './app.module.js';
import type { Environment } from './config/environment.js';
import { Processor } from './projection/processor.js';
import { PinoLogger } from './telemetry/pino-logger.js';

const app = await NestFactory.create<NestExpressApplication>(AppModule, {
  bufferLogs: true,
  abortOnError: false,
  // a client that keeps its connection open must not hold up the end
  forceCloseConnections: true,
});
const logger = app.get(PinoLogger);
app.useLogger(logger);
// by default Nest ends the process by the signal again, which looks like a crash to whoever sent it
app.enableShutdownHooks(['SIGTERM', 'SIGINT'], { useProcessExit: true });

const config = app.get<ConfigService<Environment, true>>(ConfigService);
await app.listen(config.get('PORT', { infer: true }), config.get('HOST', { infer: true }));
logger.log(`listening at ${await app.getUrl()}`, 'main');

// what has failed for good ends the program; whoever runs it starts it anew, from the place that is stored
app.get(Processor).over.catch(async (error: unknown) => {
  logger.fatal(error, 'Processor');
  await app.close();
  process.exit(1);
});
