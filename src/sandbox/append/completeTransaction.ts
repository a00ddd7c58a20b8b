import type { WireEventInput } from '../wire/WireEventInput.js';
import type { WireTransaction } from '../wire/WireTransaction.js';
import { completeEvents } from './completeEvents.js';
import { completeHeader } from './completeHeader.js';
import type { Fallbacks } from './Fallbacks.js';

type Input = Partial<Omit<WireTransaction, 'events'>> & { readonly events?: readonly WireEventInput[] };

/** Fills in what a transaction made by hand leaves out. */
export function completeTransaction(input: Input, fallbacks: Fallbacks): WireTransaction {
  const header = completeHeader(input, fallbacks);
  const effectiveAt = input.effectiveAt ?? header.recordTime;
  return {
    commandId: '',
    workflowId: '',
    effectiveAt,
    traceContext: null,
    externalTransactionHash: null,
    paidTrafficCost: null,
    transactionHash: null,
    ...input,
    ...header,
    events: completeEvents(input.events ?? [], { offset: header.offset, at: effectiveAt }, fallbacks.ledger),
  };
}
