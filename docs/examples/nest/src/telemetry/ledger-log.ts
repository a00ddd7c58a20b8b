import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import type { Ledger, Diagnostic } from 'canton-rx';
import { LEDGER } from '../ledger/ledger.js';
import { factsOf } from './facts-of.js';
import { levelOf } from './level-of.js';
import { PinoLogger } from './pino-logger.js';

/** Logs what the ledger and its feeds are doing. Hot, and never ends: it listens for as long as the process runs. */
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

/** An error by its name and message alone: no event has a token in it, but a handler's error is whatever it throws. */
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
