import type { ActiveContract } from '../../codecs/ContractEntry.js';
import type { CreatedEvent } from '../../codecs/Event.js';
import type { AnyContract, ContractLocation } from '../../contracts/Contract.js';
import type { ContractsChanged } from '../../contracts/ContractChange.js';

/** A contract as `--json` prints it: where it is, its payload, and what else its created event has, each once. */
export interface ContractLine extends Omit<CreatedEvent, '_tag' | 'createArgument'> {
  readonly _tag: 'Contract';
  /** `#package-name:Module:Entity`. */
  readonly type: string;
  readonly location: ContractLocation;
  readonly reassignmentCounter: number;
  /** The arguments as the ledger sent them. */
  readonly payload: unknown;
}

/** The line of a contract. */
export function toContractLine({ createdEvent, location, reassignmentCounter }: AnyContract): ContractLine {
  const { createArgument: payload, ...others } = createdEvent;
  const { contractId, packageName, templateId } = others;
  const type = `#${packageName}${templateId.slice(templateId.indexOf(':'))}`;
  return {
    ...{ _tag: 'Contract', type, contractId, location, reassignmentCounter, payload },
    ...others,
    _tag: 'Contract',
  };
}

/** The entry of a snapshot from which a line was made. */
export function entryOfLine(line: ContractLine): ActiveContract | undefined {
  const { location, reassignmentCounter, payload: createArgument, ...others } = line;
  if ('inFlight' in location) return undefined;
  const createdEvent: CreatedEvent = { ...others, _tag: 'CreatedEvent', createArgument };
  return { _tag: 'ActiveContract', createdEvent, synchronizerId: location.synchronizerId, reassignmentCounter };
}

/** What one update of the ledger changed, as `--json` prints it. */
export const toChangeLine = ({ _tag, offset, updateId, synchronizerId, recordTime, ...change }: ContractsChanged) => ({
  ...{ _tag, offset, updateId, synchronizerId, recordTime },
  added: change.added.map(toContractLine),
  removed: change.removed.map(toContractLine),
  moved: change.moved.map(({ contract, from }) => ({ contract: toContractLine(contract), from })),
});
