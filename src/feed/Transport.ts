import type { Observable } from 'rxjs';
import type { LedgerFeed } from './LedgerFeed.js';
import type { Position, Step } from './Position.js';
import type { Service } from './Service.js';

/**
 * How a feed that has caught up receives new updates, in place of polls. `webSocketTransport()` of `canton-rx/ws` creates
 * one, which programs that only poll do not load.
 *
 * @example
 * ```ts
 * import { createLedger, type Transport } from 'canton-rx';
 * import { webSocketTransport } from 'canton-rx/ws';
 *
 * const transport: Transport = webSocketTransport();
 * const ledger = createLedger({ baseUrl: 'http://127.0.0.1:7575', transport });
 * ```
 * @category HTTP
 */
export interface Transport {
  /** The discriminant. */
  readonly _tag: 'Transport';
  /**
   * Follows the ledger from a position, and ends with a step that continues over HTTP. `undefined`: the feed polls once,
   * and then asks again.
   *
   * @internal
   */
  readonly follow: (feed: LedgerFeed, position: Position) => Observable<Step> | undefined;
  /**
   * Reads a list that ends, such as a snapshot of the active contracts: emits the JSON of its elements, undecoded, as they
   * arrive, and completes only if the service has sent all of them. Any other end is an error, a `LedgerError`.
   *
   * @internal
   */
  readonly readList: (service: Service, path: string, body: object) => Observable<unknown>;
}
