import { JetStreamApiCodes, JetStreamApiError } from '@nats-io/jetstream';

/** What a call of JetStream's gives, or nothing where the stream, consumer or message that it is about is not there. */
export const orUndefined = <A>(asked: Promise<A>): Promise<A | undefined> =>
  asked.catch((error: unknown) => {
    if (error instanceof JetStreamApiError && missing.includes(error.code)) return undefined;
    throw error;
  });

const missing: readonly number[] = [
  JetStreamApiCodes.StreamNotFound,
  JetStreamApiCodes.ConsumerNotFound,
  JetStreamApiCodes.NoMessageFound,
];
