import type { Ledger } from '../ledger/Ledger.js';
import { generatedParties } from '../traffic/generatedParties.js';
import { contractIdOf } from '../wire/contractIdOf.js';
import { createdEvent } from '../wire/createdEvent.js';
import type { WireCreatedEvent } from '../wire/WireCreatedEvent.js';
import type { Moment } from './Moment.js';

/** Fills in what a created event made by hand leaves out. Identifiers may go by package name. */
export function completeCreated(
  input: Partial<WireCreatedEvent>,
  { offset, at }: Moment,
  { packages, commits }: Ledger,
): WireCreatedEvent {
  const nodeId = input.nodeId ?? 0;
  const template = packages.resolve(input.templateId ?? '#sandbox-assets:Main:Asset');
  const completed = createdEvent({
    offset,
    nodeId,
    contractId: input.contractId ?? contractIdOf('appended', offset, nodeId, commits),
    template: { ...template, packageName: input.packageName ?? template.packageName },
    createArgument: {},
    signatories: input.signatories ?? input.witnessParties ?? generatedParties.slice(0, 1),
    observers: input.observers ?? [],
    createdAt: at,
  });
  const interfaceViews = (input.interfaceViews ?? []).map((view) => ({
    ...view,
    interfaceId: packages.resolve(view.interfaceId).id,
  }));
  return { ...completed, ...input, templateId: template.id, interfaceViews };
}
