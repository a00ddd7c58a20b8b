/** The size of a batch, and how long its first update waits for others. */
export const batch = { size: 100, withinMs: 20 };
