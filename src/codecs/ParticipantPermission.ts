import * as t from 'io-ts';
import { text } from './internal/text.js';

const names = ['UNSPECIFIED', 'SUBMISSION', 'CONFIRMATION', 'OBSERVATION'] as const;

/** What a participant may do for a party: one of the `PARTICIPANT_PERMISSION_…` names, or a newer one. */
export type ParticipantPermission = string;

/** Codec of `ParticipantPermission`. 3.3 writes the number of the name. */
export const ParticipantPermission: t.Type<ParticipantPermission, unknown> = new t.Type<
  ParticipantPermission,
  unknown,
  unknown
>(
  'ParticipantPermission',
  text.is,
  (u, context) => {
    const former = typeof u === 'number' ? names[u] : undefined;
    const name = former === undefined ? u : `PARTICIPANT_PERMISSION_${former}`;
    return typeof name === 'string' ? t.success(name) : t.failure(u, context);
  },
  t.identity,
);
