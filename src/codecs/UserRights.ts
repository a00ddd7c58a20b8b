import type * as t from 'io-ts';
import { json, mapOf, repeated, text } from './internal/field.js';
import { isRecord } from './internal/Codec.js';
import { message } from './internal/message.js';

/** A right of a user of a participant: the name of its kind, and what it is about. */
interface Right {
  readonly kind: Readonly<Record<string, unknown>>;
}

/** The rights of a user of a participant. */
export interface UserRights {
  readonly rights: readonly Right[];
}

/** Codec of `UserRights`. A right of an unknown kind is kept. */
export const UserRights: t.Type<UserRights, unknown> = /* @__PURE__ */ (() =>
  message<UserRights>('UserRights', {
    rights: repeated(message<Right>('Right', { kind: mapOf(text, json) })),
  }))();

/**
 * Returns the parties that a user may read, each once and in order; `'any'` for the right to read any party, or to act as any,
 * which 3.6 has and which includes it.
 */
export function readableParties({ rights }: UserRights): readonly string[] | 'any' {
  if (rights.some(({ kind }) => 'CanReadAsAnyParty' in kind || 'CanActAsAnyParty' in kind)) return 'any';
  const parties = rights.flatMap(({ kind }) => partyOf(kind['CanActAs']) ?? partyOf(kind['CanReadAs']) ?? []);
  return [...new Set(parties)].sort();
}

/** The party of a right. Messages of one of several kinds have their content in `value`. */
function partyOf(right: unknown): string | undefined {
  const content = isRecord(right) ? right['value'] : undefined;
  const party = isRecord(content) ? content['party'] : undefined;
  return typeof party === 'string' ? party : undefined;
}
