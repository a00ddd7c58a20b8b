const tickMs = 100;

/** Generates updates at a given rate per second. */
export function trafficOn(sandbox, perSecond) {
  let rate = perSecond;
  let owed = 0;
  const timer = setInterval(() => {
    // with some variation, like real traffic
    owed += (rate * tickMs * (0.4 + 1.2 * Math.random())) / 1_000;
    const due = Math.floor(owed);
    owed -= due;
    if (due > 0) sandbox.generate(due);
  }, tickMs);
  return { rate: () => rate, setRate: (next) => void (rate = next), stop: () => clearInterval(timer) };
}
