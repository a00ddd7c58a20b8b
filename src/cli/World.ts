import type { EventEmitter } from 'node:events';
import type { Writable } from 'node:stream';

/** Where a command writes; a terminal, perhaps. */
export type Output = Writable & { readonly isTTY?: boolean; readonly columns?: number };

/** What emits `SIGINT` and `SIGTERM`. */
export type Signals = Pick<EventEmitter, 'addListener' | 'removeListener'>;

/** What a command has to do with, apart from the ledger: the process, or what a test puts in its place. */
export interface World {
  /** The arguments, without node and the script. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly signals: Signals;
}
