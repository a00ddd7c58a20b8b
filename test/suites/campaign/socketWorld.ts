import { setTimeout } from 'node:timers/promises';
import { createLedger } from '../../../src/ledger/createLedger.js';
import type { Ledger } from '../../../src/ledger/Ledger.js';
import { type Sandbox, startSandbox } from '../../../src/sandbox/index.js';
import { valueOf } from '../../../src/sandbox/wire/events.js';
import { wsPort } from '../../../src/ws/wsPort.js';
import { rewrites, type Deed, type SocketSchedule } from './SocketSchedule.js';

/** A sandbox to which a schedule happens, and a client of it. */
export interface SocketWorld {
  readonly sandbox: Sandbox;
  readonly client: Ledger;
  /** Where an earlier feed stopped. */
  readonly beginExclusive: number;
  /** The token that is valid now; the ones before it have expired. */
  readonly token: () => string;
  /** What happens at its time; resolves when all has. */
  readonly happen: () => Promise<void>;
}

/** 3.4 does not show every kind of topology event: what a feed sees would depend on when it asked. */
const playsOld = ({ profile, deeds }: SocketSchedule): boolean =>
  profile === '3.4' || deeds.some(({ deed }) => deed.kind === 'profile' && deed.profile === '3.4');

export async function socketWorld(schedule: SocketSchedule): Promise<SocketWorld> {
  const { profile, interfaceOnly, maxListElements } = schedule;
  const start = Date.now();
  // the clock alone decides, so that it cannot expire twice
  const token = (): string => `TOKEN-SECRET-${Date.now() - start < schedule.expiresAtMs ? 1 : 2}`;
  const sandbox = await startSandbox({
    profile,
    interfaceOnly,
    // of the two operations of the interface document the first is off in 3.6
    deprecatedApis: interfaceOnly,
    maxListElements,
    checkToken: (given) => given === token(),
  });
  const traffic = {
    seed: schedule.seed,
    ...(playsOld(schedule) && { variants: ['Transaction', 'Reassignment'] as const }),
  };
  sandbox.generate(schedule.known, traffic);
  const offsetAt = (percent: number): number => {
    const update = sandbox.updates[Math.floor((schedule.known * percent) / 100) - 1];
    return update === undefined ? 0 : valueOf(update).offset;
  };
  const pruneUpTo = offsetAt(schedule.prunesUpTo);
  for (const { trouble, after, times } of schedule.troubles) {
    const fault = trouble.kind === 'rewrite' ? { kind: trouble.kind, body: rewrites[trouble.how] } : trouble;
    sandbox.fault(fault, { path: /^\/v2\/(updates|state)/, after, times });
  }
  for (const trouble of schedule.socketTroubles) sandbox.fault(trouble);
  const run = (deed: Deed): Promise<void> | number | undefined => {
    switch (deed.kind) {
      case 'generate':
        return sandbox.generate(deed.count, traffic);
      case 'advance':
        return sandbox.advance(deed.offsets);
      case 'restart':
        return sandbox.restart(deed);
      case 'profile':
        // the interface document's service stays what it is
        return interfaceOnly ? undefined : (sandbox.configure({ profile: deed.profile }), undefined);
    }
  };
  return {
    sandbox,
    token,
    beginExclusive: offsetAt(schedule.seenBefore),
    client: createLedger({
      baseUrl: sandbox.url,
      token: schedule.keepsToken === true ? 'TOKEN-SECRET-1' : token,
      requestTimeoutMs: 150,
      webSocket: wsPort({ pingEveryMs: 20 }),
      retry: { baseDelayMs: 1, maxDelayMs: 10, giveUpAfterMs: 600_000 },
    }),
    happen: async () => {
      const deeds = schedule.deeds.map(async ({ deed, atMs }) => {
        await setTimeout(atMs);
        await run(deed);
      });
      const pruning = setTimeout(schedule.prunesAtMs).then(() => {
        if (schedule.prunes === true) sandbox.prune(pruneUpTo);
      });
      await Promise.all([...deeds, pruning]);
    },
  };
}
