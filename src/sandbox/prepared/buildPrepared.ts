import { randomBytes, randomUUID } from 'node:crypto';
import type {
  DamlTransaction_Node,
  Metadata_InputContract,
  PreparedTransaction,
} from '@canton-network/core-ledger-proto';
import type { Ledger } from '../ledger/Ledger.js';
import type { Submission } from './Submission.js';
import { archiveNode } from './archiveNode.js';
import { creationNode } from './creationNode.js';
import { inputContract } from './inputContract.js';
import { lfVersion } from './lfVersion.js';

interface Parts {
  readonly node: DamlTransaction_Node['versionedNode'];
  readonly inputs: readonly Metadata_InputContract[];
}

/** The message of a prepared transaction: one root node, its seed, and what is needed to execute it. */
export function buildPrepared(submission: Submission, ledger: Ledger): PreparedTransaction {
  const { party, commandId, synchronizerId, minLedgerTime, maxRecordTime } = submission;
  const transactionUuid = randomUUID();
  const { node, inputs } = partsOf(submission, transactionUuid, ledger);
  return {
    transaction: {
      version: lfVersion,
      roots: ['0'],
      nodes: [{ nodeId: '0', versionedNode: node }],
      nodeSeeds: [{ nodeId: 0, seed: randomBytes(32) }],
    },
    metadata: {
      submitterInfo: { actAs: [party], commandId },
      synchronizerId,
      mediatorGroup: 0,
      transactionUuid,
      preparationTime: BigInt(Date.now()) * 1000n,
      inputContracts: [...inputs],
      globalKeyMapping: [],
      ...(minLedgerTime !== undefined && { minLedgerEffectiveTime: BigInt(minLedgerTime) }),
      ...(maxRecordTime !== undefined && { maxRecordTime: BigInt(maxRecordTime) }),
    },
  };
}

function partsOf({ command, party }: Submission, uuid: string, ledger: Ledger): Parts {
  if (command.kind === 'create') {
    const create = creationNode(command, { party, uuid, packages: ledger.packages });
    return { node: { oneofKind: 'v1', v1: { nodeType: { oneofKind: 'create', create } } }, inputs: [] };
  }
  const contract = ledger.contracts.get(command.contractId);
  if (contract === undefined) throw new Error(`${command.contractId} has been checked to be active`);
  const exercise = archiveNode(contract.created, party);
  const inputs = [inputContract(contract.created)];
  return { node: { oneofKind: 'v1', v1: { nodeType: { oneofKind: 'exercise', exercise } } }, inputs };
}
