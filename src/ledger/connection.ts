import type { Observable } from 'rxjs';
import type { TraceContext } from '../codecs/OffsetCheckpoint.js';
import type { UpdatesRequest } from '../codecs/UpdatesRequest.js';
import type { Offset, Timestamp } from '../codecs/scalars.js';
import type { Report } from '../diagnostics/Diagnostic.js';
import type { Service } from '../feed/Service.js';
import type { Transport } from '../feed/LedgerFeed.js';
import type { RetryPolicy } from '../http/retry.js';

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
export type AnyHandler = (work: never, tx: unknown, report?: Report) => unknown;

/** The progress of a processor. */
export interface ProcessorProgress {
  readonly offset: Offset;
  readonly recordTimes: Readonly<Record<string, Timestamp>>;
  /** Set if the processor does not hold its name. */
  readonly role?: string;
}

/** The action of a rule that a request submits. */
export interface RuleAction {
  readonly rule: string;
  readonly contractId: string;
  /** The trace in which the contract was created, if it is known. */
  readonly traceContext: TraceContext | undefined;
}

/** The actions that requests submit, for telemetry. */
const actions = new WeakMap<object, RuleAction>();

/** Notes that a request submits an action. Returns the request. */
export function withAction<R extends object>(request: R, action: RuleAction): R {
  actions.set(request, action);
  return request;
}

/** Returns the action that a request submits; `undefined` if it is not that of a rule. */
export const actionOf = (request: object): RuleAction | undefined => actions.get(request);

/** What identifies a ledger and its copies: the function `updates`. */
interface LedgerKey {
  readonly updates: object;
}

/** The connections of ledgers, by their function `updates`. */
const connections = new WeakMap<object, LedgerConnection>();

/**
 * Attaches a connection to a ledger, by its function `updates`. A copy of the ledger has the same function, and so the
 * same connection. A copy with another function has none, because what reads over the connection would bypass it. A
 * property would show the connection, which has the token, in logs.
 */
export function withConnection<L extends LedgerKey>(ledger: L, connection: LedgerConnection): L {
  connections.set(ledger.updates, connection);
  return ledger;
}

/** Returns the connection of a ledger; `undefined` if this library has not created its `updates`. */
export const connectionOf = ({ updates }: LedgerKey): LedgerConnection | undefined => connections.get(updates);

/** Returns the connection of a ledger. Throws a TypeError if this library has not created its `updates`. */
export function requireConnection(ledger: LedgerKey): LedgerConnection {
  const connection = connectionOf(ledger);
  if (connection === undefined)
    throw new TypeError(
      'ledger.updates must be that of createLedger or another function of this library: it is not called here, so a replaced one would have no effect',
    );
  return connection;
}
