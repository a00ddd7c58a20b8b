import type { Exercise } from '@canton-network/core-ledger-proto';
import type { WireCreatedEvent } from '../wire/WireCreatedEvent.js';
import { stakeholdersOf } from '../wire/stakeholdersOf.js';
import { toIdentifier } from './identifiers.js';
import { lfVersion } from './lfVersion.js';

/** The type of the argument of `Archive`, in a package that all Daml 3 packages depend on. */
const archive = toIdentifier(
  '9e70a8b3510d617f8a136213f33d6a903a10ca0eeec76bb06ba55d1ed9680f69:DA.Internal.Template:Archive',
);

/** The node by which a contract ends. */
export function archiveNode(created: WireCreatedEvent, party: string): Exercise {
  return {
    lfVersion,
    contractId: created.contractId,
    packageName: created.packageName,
    templateId: toIdentifier(created.templateId),
    signatories: [...created.signatories].sort(),
    stakeholders: [...stakeholdersOf(created)].sort(),
    actingParties: [party],
    choiceId: 'Archive',
    chosenValue: { sum: { oneofKind: 'record', record: { recordId: archive, fields: [] } } },
    consuming: true,
    children: [],
    exerciseResult: { sum: { oneofKind: 'unit', unit: {} } },
    choiceObservers: [],
  };
}
