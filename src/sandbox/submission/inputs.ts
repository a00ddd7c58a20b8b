import type { CommandsRequest } from '../../codecs/SubmissionRequest.js';
import { invalidArgument, requestError } from '../errors.js';
import type { Contract } from '../ledger/ContractHistory.js';
import type { Ledger } from '../ledger/Ledger.js';
import type { Participant } from '../participant/Participant.js';
import { parseMicros } from '../wire/values.js';
import { stakeholdersOf, updateValue } from '../wire/WireUpdate.js';
import type { InterpretationContext } from './Interpreter.js';

/** The contracts that a request discloses, by id. They are used as disclosed, even if they are archived. */
export type Disclosed = ReadonlyMap<string, Contract>;

/** Reads the disclosed contracts of a request. The sandbox finds a contract by its blob, so it must know it. */
export function readDisclosed(
  request: Pick<CommandsRequest, 'disclosedContracts' | 'synchronizerId'>,
  { ledger }: Participant,
): Disclosed {
  const { contracts, packages } = ledger;
  const disclosed = new Map<string, Contract>();
  const synchronizers = new Set<string>();
  for (const { createdEventBlob, contractId, templateId, synchronizerId } of request.disclosedContracts ?? []) {
    const known = contracts.activations.findLast(({ created }) => created.createdEventBlob === createdEventBlob);
    if (createdEventBlob === '' || known === undefined)
      throw invalidArgument('Unable to decode disclosed contract: the sandbox knows no contract with this blob');
    const { created } = known;
    const isSameTemplate = !templateId || packages.matches(templateId, created.templateId);
    if ((contractId !== '' && contractId !== created.contractId) || !isSameTemplate)
      throw requestError('INVALID_DISCLOSED_CONTRACT', `The disclosed contract is ${created.contractId}`);
    if (synchronizerId) synchronizers.add(synchronizerId);
    disclosed.set(created.contractId, contracts.get(created.contractId) ?? known);
  }
  const prescribed = request.synchronizerId ?? '';
  if (synchronizers.size > 1)
    throw requestError(
      'DISCLOSED_CONTRACTS_SYNCHRONIZER_ID_MISMATCH',
      'The disclosed contracts differ in synchronizer',
    );
  if (prescribed !== '' && synchronizers.size > 0 && !synchronizers.has(prescribed))
    throw requestError('PRESCRIBED_SYNCHRONIZER_ID_MISMATCH', 'The disclosed contracts are on another synchronizer');
  return disclosed;
}

/**
 * The contracts that a submission sees: the disclosed ones, and the active ones of which a party that it reads as is a
 * stakeholder. For others, a participant says that there is no such contract.
 */
export function inputsFor(
  readers: readonly string[],
  disclosed: Disclosed,
  participant: Participant,
): Pick<InterpretationContext, 'findContract' | 'findByKey'> {
  const { contracts } = participant.ledger;
  const isVisible = (contract: Contract): boolean =>
    disclosed.has(contract.created.contractId) ||
    stakeholdersOf(contract.created).some((party) => readers.includes(party));
  return {
    findContract: (contractId) => {
      const found = disclosed.get(contractId) ?? findKnown(contractId, participant);
      return found !== undefined && isVisible(found) ? found : undefined;
    },
    *findByKey(keyHash) {
      for (const contract of contracts.withKey(keyHash)) if (isVisible(contract)) yield contract;
    },
  };
}

/**
 * Rejects a submission with a contract that is on no synchronizer: it is in flight, or archived for a while already. A disclosed
 * contract passes.
 */
export function checkSynchronizers(inputs: readonly Contract[], disclosed: Disclosed, { contracts }: Ledger): void {
  const unknown = inputs
    .map(({ created }) => created.contractId)
    .filter((id) => contracts.get(id) === undefined && !disclosed.has(id));
  const inFlight = unknown.filter((id) => contracts.inFlight(id) !== undefined);
  const archived = unknown.filter((id) => !inFlight.includes(id));
  const code = 'UNKNOWN_CONTRACT_SYNCHRONIZERS';
  if (archived.length > 0)
    throw requestError(code, `The following contracts have been archived: List(${archived.join(', ')})`);
  if (inFlight.length === 0) return;
  const ids = inFlight.join(', ');
  const reason = 'are currently unknown due to ongoing contract reassignments or disconnected synchronizers.';
  throw requestError(code, `The synchronizers for the contracts (${ids}) ${reason}`, {
    context: { archived: 'Map()', notFound: `List(${ids})` },
    resources: [['ErrorResource(CONTRACT_IDS)', `[${ids}]`]],
  });
}

/** Finds a contract that is active or in flight. For a while, the index still has archived contracts. */
function findKnown(contractId: string, { ledger, settings }: Participant): Contract | undefined {
  const found = ledger.contracts.get(contractId) ?? ledger.contracts.inFlight(contractId);
  if (found !== undefined || settings.archiveLagMs === 0) return found;
  const archived = ledger.contracts.activations.findLast(({ created }) => created.contractId === contractId);
  const archive = archived && ledger.at(archived.endedAt);
  const since = archive === undefined ? Infinity : ledger.now() - parseMicros(updateValue(archive).recordTime) / 1000;
  return since < settings.archiveLagMs ? archived : undefined;
}
