/** The parties of generated traffic. */
export const generatedParties: readonly string[] = [
  `alice::1220${'a1'.repeat(32)}`,
  `bob::1220${'b0'.repeat(32)}`,
  `carol::1220${'ca'.repeat(32)}`,
  `dora::1220${'d0'.repeat(32)}`,
];
