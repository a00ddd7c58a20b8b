import type { Create, DamlTransaction_Node } from '@canton-network/core-ledger-proto';
import { fromIdentifier } from './identifiers.js';
import { fromValue } from './fromValue.js';
import type { Effect } from './Prepared.js';

type Node = Extract<DamlTransaction_Node['versionedNode'], { oneofKind: 'v1' }>['v1'];

/** What a node does to the ledger. */
export function effectOf({ nodeType }: Node): Effect {
  if (nodeType.oneofKind === 'create') return creation(nodeType.create);
  if (nodeType.oneofKind === 'exercise' && nodeType.exercise.choiceId === 'Archive') {
    return { kind: 'archive', contractId: nodeType.exercise.contractId };
  }
  throw new TypeError('neither a create nor an archive');
}

function creation({ contractId, templateId, packageName, argument, signatories, stakeholders }: Create): Effect {
  if (templateId === undefined || !/^00[0-9a-f]{64}$/.test(contractId)) throw new TypeError('no contract');
  return {
    kind: 'create',
    contractId,
    template: { id: fromIdentifier(templateId), packageName },
    createArgument: fromValue(argument),
    signatories,
    observers: stakeholders.filter((party) => !signatories.includes(party)),
  };
}
