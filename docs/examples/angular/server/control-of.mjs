import { setImmediate } from 'node:timers/promises';

/** The controls of a sandbox, for which a ledger has no API: one function for each command of `/control/…`. */
export function controlOf(sandbox, traffic) {
  return {
    /** Hosts the party of a public key, as the tools of a participant do. Repeating it for the same key has no effect. */
    party: ({ hint, publicKey }) => {
      checkName(hint);
      return sandbox.externalParty(hint, { publicKey: new Uint8Array(Buffer.from(publicKey, 'base64')) });
    },
    /** Hosts a party for which the sandbox signs. */
    'hosted-party': ({ hint }) => {
      checkName(hint);
      return { party: sandbox.hostedParty(hint) };
    },
    /**
     * Commits the next submission and cuts off its answer. Resetting the connection would have no visible effect, since
     * browsers repeat a request when a connection that they have used before is reset.
     */
    'lose-answer': () => sandbox.fault({ kind: 'truncate', bytes: 8 }, { path: submissions }),
    /** Stops the ledger, and starts it again after `downMs`. */
    restart: ({ downMs }) => void sandbox.restart({ downMs: Math.min(60_000, Number(downMs)) }).catch(console.error),
    generate: async ({ count }) => {
      // in small batches, so that the ledger can answer between them
      for (let left = Math.min(100_000, Number(count)); left > 0; left -= 1_000) {
        sandbox.generate(Math.min(left, 1_000));
        await setImmediate();
      }
    },
    /** Sets the traffic if `perSecond` is given. Returns the current traffic. */
    traffic: ({ perSecond = traffic.rate() }) => {
      traffic.setRate(Math.min(200, Number(perSecond)));
      return { perSecond: traffic.rate() };
    },
  };
}

const submissions = /(executeAndWaitForTransaction|submit-and-wait-for-transaction)$/;

function checkName(hint) {
  if (!/^[\w-]{1,40}$/.test(hint)) throw new TypeError('a name is made of letters, digits, - and _');
}
