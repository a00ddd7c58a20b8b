import { BadRequestException } from '@nestjs/common';
import { Offset } from 'canton-rx';
import { z } from 'zod';

const offset = z.coerce.number().refine((number) => Offset.is(number), 'no offset');

/** Where a page ends: the offset at which the pages are read, and the last contract of the page. */
const place = z
  .string()
  .regex(/^\d+\.\d+\.[^.]+$/, 'no page')
  .transform((text) => {
    const [at = '', createdAt = '', contractId = ''] = text.split('.');
    return { at: Number(at), createdAt: Number(createdAt), contractId };
  });

const ContractsQuery = z.strictObject({
  type: z.string().min(1).optional(),
  party: z.string().min(1).optional(),
  text: z.string().min(1).optional(),
  limit: z.coerce.number().int().min(1).max(200).default(50),
  /** The page after another one, by its `next`. */
  after: place.optional(),
  /** The offset of a submission that the contracts must include. */
  atLeast: offset.optional(),
});

/** The contracts that a client requests. */
export type ContractsQuery = z.infer<typeof ContractsQuery> & {
  /** What the payload contains, from the parameters `payload.…`; a path has dots: `payload.kind.tag=Fixed`. */
  readonly payload: Json;
};

type Json = { readonly [key: string]: string | boolean | Json };

const prefix = 'payload.';

/** Reads the query. An unknown parameter is an error: a misspelt filter must not answer everything. */
export function contractsQueryOf(query: Readonly<Record<string, unknown>>): ContractsQuery {
  const all = Object.entries(query);
  const read = ContractsQuery.safeParse(Object.fromEntries(all.filter(([key]) => !key.startsWith(prefix))));
  if (!read.success) throw new BadRequestException(z.flattenError(read.error));
  const fields = all.filter(([key]) => key.startsWith(prefix));
  return { ...read.data, payload: fields.reduce((json, [key, value]) => withField(json, key, value), {}) };
}

function withField(json: Json, key: string, value: unknown): Json {
  if (typeof value !== 'string') throw new BadRequestException(`${key} is given more than once`);
  // numbers of Daml are strings in JSON, only a Bool is not
  const leaf = value === 'true' || value === 'false' ? value === 'true' : value;
  return withPath(json, key.slice(prefix.length).split('.'), leaf);
}

function withPath(json: Json, [first = '', ...rest]: readonly string[], leaf: string | boolean): Json {
  const inner = Object.hasOwn(json, first) ? json[first] : undefined;
  return {
    ...json,
    [first]: rest.length === 0 ? leaf : withPath(typeof inner === 'object' ? inner : {}, rest, leaf),
  };
}

const AtLeast = z.strictObject({ atLeast: offset.optional() });

/** Reads the offset that a contract must be read at or after. */
export function atLeastOf(query: unknown): Offset | undefined {
  const read = AtLeast.safeParse(query);
  if (!read.success) throw new BadRequestException(z.flattenError(read.error));
  return read.data.atLeast;
}
