import type { GenerateOptions } from '../GenerateOptions.js';
import type { LedgerEntry } from '../ledger/LedgerEntry.js';
import type { Participant } from '../participant/Participant.js';
import type { UpdateVariant } from '../UpdateVariant.js';
import { generateReassignment } from './generateReassignment.js';
import { generateTopology } from './generateTopology.js';
import { generateTransaction } from './generateTransaction.js';
import { Random } from './Random.js';
import type { TrafficState } from './TrafficState.js';

/** Most traffic is transactions. */
const mixture: readonly UpdateVariant[] = [
  ...Array.from({ length: 16 }, () => 'Transaction' as const),
  'Reassignment',
  'Reassignment',
  'Reassignment',
  'TopologyTransaction',
];

const generators = {
  Transaction: generateTransaction,
  Reassignment: generateReassignment,
  TopologyTransaction: generateTopology,
};

/** Mixed traffic, one update after the other: each builds on what the ledger says when it is asked for. */
export function* generate(
  count: number,
  { seed = 1, variants = mixture }: GenerateOptions,
  participant: Participant,
  state: TrafficState,
): Generator<LedgerEntry, void> {
  const { ledger, settings } = participant;
  const random = new Random(seed ^ Math.imul(ledger.end, 0x9e3779b1));
  const chosen = mixture.filter((variant) => variants.includes(variant));
  const [first = 'Transaction', ...others] = chosen.filter(
    (variant) => variant !== 'Reassignment' || settings.synchronizers.length > 1,
  );
  for (let made = 0; made < count; made++) {
    const gap = random.chance(0.2) ? 1 + random.below(4) : 0;
    const scene = { seed, random, participant, state, offset: ledger.end + 1 + gap };
    yield generators[random.pick(first, ...others)](scene);
  }
}
