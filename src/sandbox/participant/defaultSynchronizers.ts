/** Two, so that reassignments have somewhere to go. */
export const defaultSynchronizers: readonly string[] = [
  `sync1::1220${'a1'.repeat(32)}`,
  `sync2::1220${'b2'.repeat(32)}`,
];
