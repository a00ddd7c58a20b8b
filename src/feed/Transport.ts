import type { Observable } from 'rxjs';
import type { LedgerFeed } from './LedgerFeed.js';
import type { Position, Step } from './Position.js';
import type { Service } from './Service.js';

/**
 * A way for a feed that has caught up to receive new updates without polls. `webSocketTransport()` from `canton-rx/ws`
 * creates one; it is a separate entry, so that programs that only poll do not load it.
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
   * Follows the ledger from a position, and ends with a step that continues over HTTP. If it returns `undefined`, the
   * feed polls once and calls it again.
   *
   * @internal
   */
  readonly follow: (feed: LedgerFeed, position: Position) => Observable<Step> | undefined;
  /**
   * Reads a finite list, such as a snapshot of the active contracts. Emits the JSON of its elements, undecoded, as they
   * arrive. Completes only if the participant has sent all elements, and otherwise fails with a `LedgerError`.
   *
   * @internal
   */
  readonly readList: (service: Service, path: string, body: object) => Observable<unknown>;
}
