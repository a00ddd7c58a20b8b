import type { Command } from '../../codecs/Command.js';
import type { FaultReject } from '../Fault.js';
import { completeUpdates } from '../ledger/append.js';
import type { Participant } from '../participant/Participant.js';
import type { WireEventInput } from '../wire/WireUpdate.js';
import { Random } from './TrafficState.js';

/**
 * Lets another transaction win the race for a contract of the given commands, for a share of submissions: it archives the
 * contract, replaces it, or locks it. Returns the rejection of the commands if the contract is locked.
 */
export function contend(commands: readonly Command[], participant: Participant): FaultReject | undefined {
  const { ledger, settings } = participant;
  const random = new Random(Math.imul(ledger.end + 1, 0x9e3779b1));
  if (!random.chance(settings.contention)) return undefined;
  const [contract] = commands.flatMap((command) =>
    'ExerciseCommand' in command ? (ledger.contracts.get(command.ExerciseCommand.contractId) ?? []) : [],
  );
  if (contract === undefined) return undefined;
  const how = random.pick('archive', 'replace', 'lock');
  if (how === 'lock') return { kind: 'reject', code: 'LOCAL_VERDICT_LOCKED_CONTRACTS' };
  const { created, synchronizerId } = contract;
  const { contractId, templateId, packageName, createArgument, signatories, observers } = created;
  const successor = { templateId, packageName, createArgument, signatories, observers };
  const events: readonly WireEventInput[] = [
    { ArchivedEvent: { contractId } },
    ...(how === 'replace' ? [{ CreatedEvent: successor }] : []),
  ];
  const value = { synchronizerId, recordTime: ledger.recordTimes.now(synchronizerId), events };
  ledger.commit(completeUpdates([{ update: { Transaction: { value } }, submitters: signatories }], participant));
  return undefined;
}
