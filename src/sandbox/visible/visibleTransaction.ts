import type { TransactionFormat } from '../formats/TransactionFormat.js';
import type { WireTransaction } from '../wire/WireTransaction.js';
import { asSeenBy } from './asSeenBy.js';
import { omit } from './omit.js';
import type { View } from './View.js';
import { visibleEvent } from './visibleEvent.js';

/** A transaction as its reader gets it, possibly without any event. */
export function visibleTransaction(transaction: WireTransaction, format: TransactionFormat, view: View) {
  const events = transaction.events.flatMap((event) => visibleEvent(event, format, view) ?? []);
  const served = { ...asSeenBy(transaction, format.events, view.ledger), events };
  return { events, served: view.profile === '3.6' ? served : omit(served, 'transactionHash') };
}
