import { z } from 'zod';

/**
 * The schema of a page of transactions in usual zod style, with the same fields as the naive codec. The first member of a
 * union that matches is taken, so the others would not change the figures.
 */
export function zodPage(): z.ZodType {
  const text = z.string();
  const int = z.int();
  const texts = z.array(text);
  const under = (key: string, schema: z.ZodType): z.ZodType => z.object({ [key]: schema });
  const valued = (key: string, schema: z.ZodType): z.ZodType => under(key, under('value', schema));
  const event = { offset: int, nodeId: int, contractId: text, templateId: text, packageName: text };
  const CreatedEvent = z.object({
    ...event,
    createdAt: text,
    witnessParties: texts,
    signatories: texts,
    contractKey: z.unknown(),
    contractKeyHash: text.nullish(),
    createArgument: z.unknown(),
    createdEventBlob: text.nullish(),
    interfaceViews: z.array(z.object({ interfaceId: text })).nullish(),
    observers: texts.nullish(),
    representativePackageId: text.nullish(),
    acsDelta: z.boolean().nullish(),
  });
  const ArchivedEvent = z.object({ ...event, witnessParties: texts, implementedInterfaces: texts.nullish() });
  const traceContext = z.object({ traceparent: text.nullish(), tracestate: text.nullish() }).nullish();
  const update = { updateId: text, offset: int, recordTime: text, traceContext };
  const submitted = { commandId: text.nullish(), workflowId: text.nullish(), paidTrafficCost: int.nullish() };
  const Transaction = z.object({
    ...update,
    ...submitted,
    effectiveAt: text,
    events: z.array(z.union([under('CreatedEvent', CreatedEvent), under('ArchivedEvent', ArchivedEvent)])),
    synchronizerId: text,
    externalTransactionHash: text.nullish(),
  });
  return z.array(under('update', z.union([valued('Transaction', Transaction), under('Others', text)])));
}
