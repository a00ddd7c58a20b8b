import * as t from 'io-ts';

const names = [
  'PARTICIPANT_PERMISSION_UNSPECIFIED',
  'PARTICIPANT_PERMISSION_SUBMISSION',
  'PARTICIPANT_PERMISSION_CONFIRMATION',
  'PARTICIPANT_PERMISSION_OBSERVATION',
] as const;

/** What a participant may do for a party: one of the `PARTICIPANT_PERMISSION_…` names, or a newer one. */
export type ParticipantPermission = string;

/** Codec of {@link (ParticipantPermission:type)}. 3.3 writes the number of the name. */
export const ParticipantPermission: t.Type<ParticipantPermission, unknown> = new t.Type<
  ParticipantPermission,
  unknown,
  unknown
>(
  'ParticipantPermission',
  t.string.is,
  (u, context) => {
    const name = typeof u === 'number' ? names[u] : u;
    return typeof name === 'string' ? t.success(name) : t.failure(u, context);
  },
  t.identity,
);
