import type { Observable } from 'rxjs';
import type { UpdatesRequest } from '../codecs/UpdatesRequest.js';
import type { Offset, Timestamp } from '../codecs/scalars.js';
import type { Service } from '../feed/Service.js';
import type { Transport } from '../feed/Transport.js';
import type { RetryPolicy } from '../http/retry.js';
import type { LedgerReader } from './Ledger.js';

/** The connection of a ledger, for functions of other entries that work on a ledger, such as `updatesFeed`. */
interface LedgerConnection {
  readonly service: Service;
  /** The policy of all requests without one of their own. */
  readonly retry: RetryPolicy | undefined;
  /** The transport of all feeds without one of their own. */
  readonly transport?: Transport | undefined;
  /** Runs a processor of the ledger's updates. Telemetry and Angular's zone wrap it with this. */
  readonly runProcessor?: <C extends ProcessorProgress>(processor: ProcessorRun<C>) => Observable<C>;
}

/** One run of a processor of a ledger's updates. */
export interface ProcessorRun<C extends ProcessorProgress = ProcessorProgress> {
  /** The name of the processor; `undefined` for one without a store. */
  readonly name: string | undefined;
  readonly request: UpdatesRequest;
  readonly handler: AnyHandler;
  readonly run: (service: Service, handler: AnyHandler) => Observable<C>;
}

/** A handler of updates or of batches. */
export type AnyHandler = (work: never, tx: unknown) => unknown;

/** How far a processor has come. */
export interface ProcessorProgress {
  readonly offset: Offset;
  readonly recordTimes: Readonly<Record<string, Timestamp>>;
}

const connections = new WeakMap<LedgerReader, LedgerConnection>();

/** Attaches a connection to a ledger. A property would show it to users, and a copy of the ledger would bypass what the copy changes. */
export function withConnection<L extends LedgerReader>(ledger: L, connection: LedgerConnection): L {
  connections.set(ledger, connection);
  return ledger;
}

/** The connection of a ledger; `undefined` for one that this library has not created. */
export const connectionOf = (ledger: LedgerReader): LedgerConnection | undefined => connections.get(ledger);
