import type { EventEmitter } from 'node:events';
import { readFileSync } from 'node:fs';
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

/** The message of an error without its stack, which does not help the user of a command. */
export function messageOf(error: unknown): string {
  if (isLedgerError(error)) return error.message;
  return types.isNativeError(error) ? error.message : 'unknown error';
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

/** The version in the package.json of this package, two folders above both `src/cli` and `dist/cli`. */
export function version(): string {
  const content: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  const isPackage = typeof content === 'object' && content !== null && 'version' in content;
  return isPackage && typeof content.version === 'string' ? content.version : 'unknown';
}
