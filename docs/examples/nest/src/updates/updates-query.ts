import { BadRequestException } from '@nestjs/common';
import { Offset } from 'canton-rx';
import { z } from 'zod';

/** A query parameter that may occur several times, as an array. */
const listed = (value: unknown): unknown => (typeof value === 'string' ? [value] : value);
const variant = z.enum(['Transaction', 'Reassignment', 'TopologyTransaction', 'UnknownUpdate']);
const name = z.string().min(1);

const offset = z.coerce.number().refine((number) => Offset.is(number), 'no offset');

const UpdatesQuery = z.object({
  variant: z.preprocess(listed, z.tuple([variant], variant).optional()),
  synchronizer: z.preprocess(listed, z.tuple([name], name).optional()),
  template: z.preprocess(listed, z.tuple([name], name).optional()),
  after: offset.optional(),
});

/** The updates that a client requests. Without `after`, it gets only new ones. */
export type UpdatesQuery = z.infer<typeof UpdatesQuery>;

/** Reads the query. A client that reconnects sends the offset of its last message as `Last-Event-ID`. */
export function updatesQueryOf(query: unknown, lastEventId: string | undefined): UpdatesQuery {
  const read = UpdatesQuery.safeParse(query);
  if (!read.success) throw new BadRequestException(z.flattenError(read.error));
  if (lastEventId === undefined || lastEventId === '') return read.data;
  const last = offset.safeParse(lastEventId);
  if (!last.success) throw new BadRequestException('Last-Event-ID is no offset');
  return { ...read.data, after: last.data };
}
