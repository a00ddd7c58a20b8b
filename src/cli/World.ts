import type { EventEmitter } from 'node:events';
import type { Writable } from 'node:stream';
import { types } from 'node:util';
import { fromEvent, merge, type Observable } from 'rxjs';

/** An output of a command, possibly a terminal. */
export type Output = Writable & { readonly isTTY?: boolean; readonly columns?: number };

/** The environment of a command apart from the ledger: the process, or a replacement in tests. */
export interface World {
  /** The arguments, without node and the script. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly signals: Signals;
}

/** Emits `SIGINT`, `SIGTERM` and `SIGHUP`. */
type Signals = Pick<EventEmitter, 'addListener' | 'removeListener'>;

/**
 * Emits on Ctrl-C, and when a supervisor or the end of the terminal ends the process. Removes its listeners on unsubscription, so that a second Ctrl-C
 * ends a process that is slow to stop.
 */
export const interruptions = (signals: Signals): Observable<unknown> =>
  merge(...['SIGINT', 'SIGTERM', 'SIGHUP'].map((signal) => fromEvent(signals, signal)));

/** An error or a notice as every command writes it to stderr. */
export const errorLine = (message: string): string => `canton-rx: ${message}\n`;

/** The message of an error without its stack, which does not help the user of a command. */
export const messageOf = (error: unknown): string => (types.isNativeError(error) ? error.message : 'unknown error');

/** Why an operation on a file failed, without the path; `undefined` for an error that is not of the system. */
export const systemReason = (error: unknown): string | undefined =>
  types.isNativeError(error) && 'syscall' in error ? error.message.split(', ')[0] : undefined;

/** Whether an error of the system or of Node.js has this code. */
export const hasCode = (error: unknown, code: string): boolean =>
  types.isNativeError(error) && 'code' in error && error.code === code;
