import type { EventEmitter } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Writable } from 'node:stream';
import { types } from 'node:util';
import { fromEvent, merge, Observable } from 'rxjs';
import { isLedgerResetError, isPrunedError } from '../errors/feed.js';
import { isLedgerError } from '../errors/LedgerError.js';

/** Where a command writes; a terminal, perhaps. */
export type Output = Writable & { readonly isTTY?: boolean; readonly columns?: number };

/** What emits `SIGINT` and `SIGTERM`. */
type Signals = Pick<EventEmitter, 'addListener' | 'removeListener'>;

/** What a command has to do with, apart from the ledger: the process, or what a test puts in its place. */
export interface World {
  /** The arguments, without node and the script. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly signals: Signals;
}

/** Completes when everything written so far has been passed on. */
export const flushed = (output: Output): Observable<never> =>
  new Observable((subscriber) => {
    output.write('', (error) => {
      if (error) subscriber.error(error);
      else subscriber.complete();
    });
  });

/** What to tell of an error: no stack, which is of no use to whoever runs a command. */
export function messageOf(error: unknown): string {
  if (isLedgerError(error)) return error.message;
  return types.isNativeError(error) ? error.message : 'something failed that says nothing of itself';
}

/** Whether an error of the system has a code, such as `EPIPE`. */
export const hasCode = (u: unknown, code: string): boolean =>
  typeof u === 'object' && u !== null && 'code' in u && u.code === code;

/** What to say where the same command would fail again for ever. */
interface Words {
  readonly pruned: (earliest: number) => string;
  readonly reset: string;
}

/** What is left to do about a gap, which asking again does not fill; `undefined` for any other error. */
export function gapAdvice(error: unknown, { pruned, reset }: Words): string | undefined {
  if (isLedgerResetError(error)) return reset;
  if (!isPrunedError(error)) return undefined;
  const { earliestOffset } = error;
  return earliestOffset === undefined
    ? 'what was pruned is gone'
    : `what was pruned is gone: ${pruned(earliestOffset)}`;
}

/**
 * Ctrl-C, and what a supervisor sends to end a process. Nothing listens any more once it is unsubscribed, so that a second
 * Ctrl-C ends a process that takes its time.
 */
export const interruptions = (signals: Signals): Observable<unknown> =>
  merge(fromEvent(signals, 'SIGINT'), fromEvent(signals, 'SIGTERM'));

/** The version of this package, as its package.json has it: two folders up, from `src/cli` and from `dist/cli`. */
export function version(): string {
  const content: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  const isPackage = typeof content === 'object' && content !== null && 'version' in content;
  return isPackage && typeof content.version === 'string' ? content.version : 'unknown';
}
