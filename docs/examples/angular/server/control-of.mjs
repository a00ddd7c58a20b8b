import { setImmediate } from 'node:timers/promises';

/** What the sandbox can do that no ledger has an API for: one function for each command of `/control/…`. */
export function controlOf(sandbox, traffic) {
  return {
    /** Hosts the party of a public key, as a participant's own tools do. Once more for the same key does no harm. */
    party: ({ hint, publicKey }) => {
      if (!/^[\w-]{1,40}$/.test(hint)) throw new TypeError('a name is made of letters, digits, - and _');
      return sandbox.externalParty(hint, { publicKey: new Uint8Array(Buffer.from(publicKey, 'base64')) });
    },
    /**
     * The next submission is committed, and its answer breaks off. A connection that is only reset would not show: browsers
     * send a request again by themselves when that happens to a connection that they had used before.
     */
    'lose-answer': () => sandbox.fault({ kind: 'truncate', bytes: 8 }, { path: /executeAndWaitForTransaction$/ }),
    /** Takes the ledger down; it comes back by itself. */
    restart: ({ downMs }) => void sandbox.restart({ downMs: Math.min(60_000, Number(downMs)) }).catch(console.error),
    generate: async ({ count }) => {
      // a few at a time: the ledger answers meanwhile
      for (let left = Math.min(100_000, Number(count)); left > 0; left -= 1_000) {
        sandbox.generate(Math.min(left, 1_000));
        await setImmediate();
      }
    },
    /** Sets the traffic, or leaves it as it is; answers what it is. */
    traffic: ({ perSecond = traffic.rate() }) => {
      traffic.setRate(Math.min(200, Number(perSecond)));
      return { perSecond: traffic.rate() };
    },
  };
}
