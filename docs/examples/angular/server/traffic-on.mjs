const tickMs = 100;

/** Steady traffic, as many updates a second as it is told. */
export function trafficOn(sandbox, perSecond) {
  let rate = perSecond;
  let owed = 0;
  const timer = setInterval(() => {
    // a little uneven, as traffic is
    owed += (rate * tickMs * (0.4 + 1.2 * Math.random())) / 1_000;
    const due = Math.floor(owed);
    owed -= due;
    if (due > 0) sandbox.generate(due);
  }, tickMs);
  return { rate: () => rate, setRate: (next) => void (rate = next), stop: () => clearInterval(timer) };
}
