/** How many updates are worked on together, and how long the first waits for others. */
export const batch = { size: 100, withinMs: 20 };
