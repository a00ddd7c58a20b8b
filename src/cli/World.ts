import type { EventEmitter } from 'node:events';
import { types } from 'node:util';
import { fromEvent, merge, type Observable } from 'rxjs';
import { isLedgerResetError, isPrunedError } from '../errors/feed.js';
import { isLedgerError } from '../errors/LedgerError.js';
import type { Output } from './output.js';

/** The environment of a command apart from the ledger: the process, or a replacement in tests. */
export interface World {
  /** The arguments, without node and the script. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly signals: Signals;
}

/** Emits `SIGINT` and `SIGTERM`. */
type Signals = Pick<EventEmitter, 'addListener' | 'removeListener'>;

/**
 * Emits on Ctrl-C and when a supervisor ends the process. Removes its listeners on unsubscription, so that a second Ctrl-C
 * ends a process that is slow to stop.
 */
export const interruptions = (signals: Signals): Observable<unknown> =>
  merge(fromEvent(signals, 'SIGINT'), fromEvent(signals, 'SIGTERM'));

/** An error or a notice as every command writes it to stderr. */
export const errorLine = (message: string): string => `canton-rx: ${message}\n`;

/** The message of an error without its stack, which does not help the user of a command. */
export function messageOf(error: unknown): string {
  if (isLedgerError(error)) return error.message;
  return types.isNativeError(error) ? error.message : 'unknown error';
}

/** Why an operation on a file failed, without the path; `undefined` for an error that is not of the system. */
export function systemReason(error: unknown): string | undefined {
  if (!types.isNativeError(error) || !('syscall' in error)) return undefined;
  return error.message.split(', ')[0];
}

/** The advice for errors after which the same command fails again. */
interface GapTexts {
  readonly pruned: (earliest: number) => string;
  readonly reset: string;
}

/** The advice about a gap, which no retry fills; `undefined` for any other error. */
export function gapAdvice(error: unknown, { pruned, reset }: GapTexts): string | undefined {
  if (isLedgerResetError(error)) return reset;
  if (!isPrunedError(error)) return undefined;
  const { earliestOffset } = error;
  return earliestOffset === undefined
    ? 'the pruned updates are gone'
    : `the pruned updates are gone: ${pruned(earliestOffset)}`;
}
