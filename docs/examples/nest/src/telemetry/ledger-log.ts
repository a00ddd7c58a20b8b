import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import type { Ledger, Diagnostic } from 'canton-rx';
import { LEDGER } from '../ledger/ledger.js';
import { factsOf } from './facts-of.js';
import { levelOf } from './level-of.js';
import { PinoLogger } from './pino-logger.js';

/** Logs the diagnostics of the ledger and its feeds, which are hot and never complete, as long as the process runs. */
@Injectable()
export class LedgerLog implements OnModuleInit {
  constructor(
    @Inject(LEDGER) private readonly ledger: Ledger,
    private readonly logger: PinoLogger,
  ) {}

  onModuleInit(): void {
    this.ledger.diagnostics$.subscribe((event) => {
      const { _tag, at, ...facts } = event;
      this.logger.pino[levelOf(event)]({ context: 'Ledger', ...facts, ...wrongWith(event) }, _tag);
    });
  }
}

/** An error by its name and message only: diagnostics contain no token, but a handler may throw anything. */
function wrongWith(event: Diagnostic): Record<string, unknown> {
  const shown = (error: unknown): Record<string, unknown> => ({
    ...factsOf(error),
    stack: undefined,
    message: error instanceof Error ? error.message : undefined,
  });
  return {
    ...('cause' in event && { cause: shown(event.cause) }),
    ...('error' in event && { error: shown(event.error) }),
  };
}
