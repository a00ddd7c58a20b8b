import { JetStreamApiCodes, JetStreamApiError } from '@nats-io/jetstream';

/** Whether a message was refused since it would not have stood behind what it was to stand behind. */
export const isWrongEnd = (error: unknown): boolean => error instanceof JetStreamApiError && codes.includes(error.code);

/** The last is that of another message's id. */
const codes: readonly number[] = [
  JetStreamApiCodes.StreamWrongLastSequence,
  JetStreamApiCodes.StreamWrongLastSequenceUnknown,
  10070,
];
