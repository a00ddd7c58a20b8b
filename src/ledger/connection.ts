import type { Observable } from 'rxjs';
import type { UpdatesRequest } from '../codecs/UpdatesRequest.js';
import type { Offset, Timestamp } from '../codecs/scalars.js';
import type { Service } from '../feed/Service.js';
import type { Transport } from '../feed/Transport.js';
import type { RetryPolicy } from '../http/retry.js';
import type { LedgerReader } from './Ledger.js';

/** The connection of a ledger, for functions of other entries that take a ledger, such as `updatesFeed`. */
interface LedgerConnection {
  readonly service: Service;
  /** The default policy of all requests. */
  readonly retry: RetryPolicy | undefined;
  /** The default transport of all feeds. */
  readonly transport?: Transport | undefined;
  /** Runs a processor of the ledger's updates. Telemetry and Angular's zone use this to wrap the run. */
  readonly runProcessor?: <C extends ProcessorProgress>(processor: ProcessorRun<C>) => Observable<C>;
}

/** A run of a processor of a ledger's updates. */
export interface ProcessorRun<C extends ProcessorProgress = ProcessorProgress> {
  /** The name of the processor; `undefined` for a processor without a store. */
  readonly name: string | undefined;
  readonly request: UpdatesRequest;
  readonly handler: AnyHandler;
  readonly run: (service: Service, handler: AnyHandler) => Observable<C>;
}

/** A handler of updates or of batches. */
export type AnyHandler = (work: never, tx: unknown) => unknown;

/** The progress of a processor. */
export interface ProcessorProgress {
  readonly offset: Offset;
  readonly recordTimes: Readonly<Record<string, Timestamp>>;
}

const connections = new WeakMap<LedgerReader, LedgerConnection>();

/**
 * Attaches a connection to a ledger. A property would expose it to users, and a modified copy of the ledger would share
 * it.
 */
export function withConnection<L extends LedgerReader>(ledger: L, connection: LedgerConnection): L {
  connections.set(ledger, connection);
  return ledger;
}

/** Returns the connection of a ledger; `undefined` if this library has not created the ledger. */
export const connectionOf = (ledger: LedgerReader): LedgerConnection | undefined => connections.get(ledger);
