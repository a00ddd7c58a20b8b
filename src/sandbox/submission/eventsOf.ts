import type { Ledger } from '../ledger/Ledger.js';
import type { Effect } from '../prepared/Prepared.js';
import { consume } from '../wire/consume.js';
import { createdEvent } from '../wire/createdEvent.js';
import { hex } from '../wire/hex.js';
import type { WireEvent } from '../wire/WireEvent.js';

interface Place {
  readonly party: string;
  readonly offset: number;
  readonly effectiveAt: string;
  readonly ledger: Ledger;
}

/** The events of a committed submission. */
export function eventsOf(effect: Effect, { party, offset, effectiveAt, ledger }: Place): readonly WireEvent[] {
  if (effect.kind === 'create') {
    // the suffix is what a synchronizer adds to the id of the prepared transaction
    const contractId = `${effect.contractId}ca1112${hex('suffix', effect.contractId, offset)}`;
    return [{ CreatedEvent: createdEvent({ ...effect, offset, nodeId: 0, contractId, createdAt: effectiveAt }) }];
  }
  const contract = ledger.contracts.get(effect.contractId);
  if (contract === undefined) throw new Error(`${effect.contractId} has been checked to be active`);
  const choice = { choice: 'Archive', choiceArgument: {}, exerciseResult: {}, actingParties: [party] };
  return consume(contract.created, { offset, nodeId: 0, ...choice });
}
