import type { Client } from '../client/Client.js';
import type { Transport } from '../feed/LedgerFeed.js';

/** What a ledger is bound to, for functions of other entries that take a ledger, such as `updatesFeed`. */
interface Binding {
  readonly client: Client;
  /** The default transport of all feeds. */
  readonly transport?: Transport | undefined;
}

/** The key of the binding, at the function `updates` of a ledger. */
const binding = Symbol('client of canton-rx');

/** What identifies a ledger and its copies: the function `updates`. */
interface BoundLedger {
  readonly updates: object & { readonly [binding]?: Binding };
}

/**
 * Binds a ledger to its client, at its function `updates`. A copy of the ledger has the same function, and so the same client. A
 * copy with another function has none, because what reads over the client would bypass it.
 */
export function bindTo<L extends BoundLedger>(ledger: L, bound: Binding): L {
  // not enumerable: a log of the ledger does not show it
  Object.defineProperty(ledger.updates, binding, { value: bound });
  return ledger;
}

/** Returns the binding of a ledger; `undefined` if this library has not created its `updates`. */
export const bindingOf = ({ updates }: Partial<BoundLedger>): Binding | undefined => updates?.[binding];

/** Returns the binding of a ledger. Throws a TypeError if this library has not created its `updates`. */
export function requireBinding(ledger: BoundLedger): Binding {
  const bound = bindingOf(ledger);
  if (bound === undefined)
    throw new TypeError(
      'ledger.updates must be that of createLedger or another function of this library: it is not called here, so a replaced one would have no effect',
    );
  return bound;
}

/** Returns the client of a ledger. Throws a TypeError if this library has not created its `updates`. */
export const clientOf = (ledger: BoundLedger): Client => requireBinding(ledger).client;
