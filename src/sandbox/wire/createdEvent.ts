import type { WireCreatedEvent } from './WireCreatedEvent.js';
import type { CreatedFields } from './CreatedFields.js';

/** A created event from what its contract is made of. */
export function createdEvent(fields: CreatedFields): WireCreatedEvent {
  const { template, signatories, observers = [] } = fields;
  return {
    offset: fields.offset,
    nodeId: fields.nodeId,
    contractId: fields.contractId,
    templateId: template.id,
    contractKey: null,
    contractKeyHash: '',
    createArgument: fields.createArgument,
    createdEventBlob: Buffer.from(fields.contractId, 'hex').toString('base64'),
    interfaceViews: fields.interfaceViews ?? [],
    witnessParties: observers.length === 0 ? signatories : [...new Set([...signatories, ...observers])],
    signatories,
    observers,
    createdAt: fields.createdAt,
    packageName: template.packageName,
    representativePackageId: template.id.slice(0, template.id.indexOf(':')),
    acsDelta: fields.acsDelta ?? true,
  };
}
