import type { SharedContracts } from '../../../src/contracts/shareContracts.js';
import { shareContractsOf } from '../../../src/contracts/shareContractsOf.js';
import type { Diagnostic } from '../../../src/diagnostics/Diagnostic.js';
import type { ServiceRequest } from '../../helpers/scripted.js';
import { stopClock } from '../../helpers/time.js';
import { contractsWorld } from '../../helpers/virtualContracts.js';
import { errorBody, errorReply, notFound } from '../../helpers/wire.js';
import { create, Marble, marbles, Paint, templateOf } from '../joinSupport.js';

/** The contracts of the other type. */
export const paints = { types: { paint: Paint }, parties: marbles.parties } as const;
/** The answer of a participant that does not know a type. */
export const unknownType = errorReply(404, errorBody('NO_TEMPLATES_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME', 11));

const opened: SharedContracts[] = [];

/** Ends all views. */
export function clearAll(): void {
  for (const shared of opened.splice(0)) shared.clear();
}

/** Whether a request selects a type. */
export const selects = ({ body }: ServiceRequest, { templateId }: { readonly templateId: string }): boolean =>
  JSON.stringify(body).includes(templateId);

/** What a participant shows a request of some templates. */
export const show = (element: object, body: Readonly<Record<string, unknown>>): object | undefined => {
  const text = JSON.stringify(element);
  const isShown = [Marble, Paint].some(
    ({ templateId }) =>
      JSON.stringify(body).includes(templateId) && text.includes(templateId.slice(templateId.indexOf(':'))),
  );
  // all templates
  if (!JSON.stringify(body).includes('templateId')) return element;
  return isShown || !text.includes('templateId') ? element : undefined;
};

/** An entry of a snapshot with the template of its contract. */
const withTemplate = (entry: object): object =>
  JSON.parse(JSON.stringify(entry), (_, value: unknown): unknown => {
    const event = Object(value) as { readonly contractId?: string };
    return event.contractId === undefined ? value : { ...event, ...templateOf(event.contractId) };
  }) as object;

/** A participant with contracts of two types. */
export function worldWith(options: Parameters<typeof contractsWorld>[0] = {}, types = [Marble, Paint]) {
  const clock = stopClock();
  const fault: typeof options.fault = (request, count) =>
    request.path === '/v2/state/connected-synchronizers' ? notFound : options.fault?.(request, count);
  const world = contractsWorld({ latencyMs: 1, participantId: 'participant::1220ab', show, ...options, fault });
  const { elementsAt } = world.participant;
  world.participant.elementsAt = (offset) => elementsAt(offset).map(withTemplate);
  world.participant.append(create(1, 'x'), create(2, 'paint1'));
  const shared = shareContractsOf(world.client, types, { keepMs: 0 });
  opened.push(shared);
  const diagnostics: Diagnostic[] = [];
  const watching = world.client.diagnostics$.subscribe((diagnostic) => diagnostics.push(diagnostic));
  return { ...world, clock, shared, diagnostics, watching };
}
