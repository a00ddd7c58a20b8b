import type { VirtualOptions } from '../../helpers/virtualLedger.js';
import type { Change, ProfileName, Schedule } from './Schedule.js';

const profiles: Readonly<Record<ProfileName, VirtualOptions>> = {
  interface: { flats: 'served', updates: 'gone', hasLedgerEnd: false },
  '3.4': { flats: 'served', updates: 'served', hasLedgerEnd: true },
  '3.5': { flats: 'served', updates: 'served', hasLedgerEnd: true, earlyCheckpointMs: 500 },
  '3.6 disabled': { flats: 'disabled', updates: 'served', hasLedgerEnd: true, earlyCheckpointMs: 500 },
  '3.6 gone': { flats: 'gone', updates: 'served', hasLedgerEnd: true, earlyCheckpointMs: 500 },
};

const isUpgrade = (change: Change): change is Change & { readonly kind: 'upgrade' } => change.kind === 'upgrade';

/** What the replica is like that answers the n-th request, at a time. */
export function replicaAt({ profile, checkpointMs, changes }: Schedule, ms: number, n: number): VirtualOptions {
  const name = changes
    .filter(isUpgrade)
    .filter(({ atMs }) => ms >= atMs)
    .reduce<ProfileName>(
      (old, { atMs, rollingMs, to }) => (ms < atMs + rollingMs && (n * 7) % 5 < 3 ? old : to),
      profile,
    );
  const { earlyCheckpointMs } = profiles[name];
  return { ...profiles[name], earlyCheckpointMs: earlyCheckpointMs === undefined ? undefined : (checkpointMs ?? 500) };
}
