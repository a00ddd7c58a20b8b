/** What a timer can count to; beyond it, it would fire at once. */
export const atMost = (ms: number): number => Math.min(ms, 2 ** 31 - 1);
