/** The end of the year 9999, in microseconds since the epoch: Daml has no later time. */
export const latestMicros = Date.UTC(10_000, 0, 1) * 1000 - 1;
