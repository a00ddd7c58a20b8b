/** Tells the time that each of `total` things takes, without the first tenth: the compiler is still at work then. */
export interface Stopwatch {
  readonly add: (count: number) => void;
  /** Microseconds for each. */
  readonly each: () => number;
  readonly count: () => number;
}

/** Starts when the first tenth is over. */
export function stopwatch(total: number): Stopwatch {
  const warm = Math.floor(total / 10);
  let count = 0;
  let countAtStart = 0;
  let startedAt = warm === 0 ? performance.now() : NaN;
  let lastAt = NaN;
  return {
    add: (more) => {
      const before = count;
      count += more;
      if (before < warm && count >= warm) {
        countAtStart = count;
        startedAt = performance.now();
      }
      if (count >= total) lastAt = performance.now();
    },
    each: () => {
      if (count < total) throw new Error(`only ${count} of ${total} came`);
      return ((lastAt - startedAt) * 1_000) / (count - countAtStart);
    },
    count: () => count,
  };
}
