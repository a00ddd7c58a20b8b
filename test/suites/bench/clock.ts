/** Milliseconds of the machine's clock, the same in all its processes, in fractions. */
export const clock = (): number => performance.timeOrigin + performance.now();
