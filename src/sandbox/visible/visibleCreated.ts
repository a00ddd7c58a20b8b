import type { EventFormat } from '../formats/EventFormat.js';
import type { WireCreatedEvent } from '../wire/WireCreatedEvent.js';
import { matchEvent } from './matchEvent.js';
import { omit } from './omit.js';
import type { View } from './View.js';

/** A created event as its reader gets it. `parties` are those who may see it in the shape asked for. */
export function visibleCreated(
  event: WireCreatedEvent,
  parties: readonly string[],
  format: EventFormat,
  { ledger, profile }: View,
): object | undefined {
  const interfaces = event.interfaceViews.map(({ interfaceId }) => interfaceId);
  const match = matchEvent({ ...event, parties, interfaces }, format, ledger.packages);
  if (match === undefined) return undefined;
  const views = event.interfaceViews.filter(({ interfaceId }) => match.views.has(interfaceId));
  const served = {
    ...event,
    createArgument: match.argument ? event.createArgument : null,
    createdEventBlob: match.blob ? event.createdEventBlob : '',
    interfaceViews: profile === '3.4' ? views.map((view) => omit(view, 'implementationPackageId')) : views,
    witnessParties: match.witnessParties,
  };
  return profile === '3.4' ? omit(served, 'contractKeyHash') : served;
}
