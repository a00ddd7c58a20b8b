import type { LedgerEntry } from '../ledger/Ledger.js';
import type { Participant } from '../participant/Participant.js';
import { generatedParties } from '../participant/parties.js';
import type { GenerateOptions, UpdateVariant } from '../SandboxContents.js';
import type { WireTopologyEvent } from '../wire/WireUpdate.js';
import { generateReassignment, generateLate } from './reassignments.js';
import { Random, type TrafficContext, type TrafficState } from './TrafficState.js';
import { generateHeader, generateTransaction } from './transactions.js';

/**
 * Generates mixed traffic. Each update is based on the state of the ledger after the previous one. The record times are
 * in the last minutes or hours, and the last update is recorded now.
 */
export function* generate(
  count: number,
  { seed = 1, variants = mixture }: GenerateOptions,
  participant: Participant,
  state: TrafficState,
): Generator<LedgerEntry, void> {
  const { ledger, settings } = participant;
  const random = new Random(seed ^ Math.imul(ledger.end, 0x9e3779b1));
  const chosen = mixture.filter((variant) => variants.includes(variant));
  const kinds = chosen.filter((variant) => variant !== 'Reassignment' || settings.synchronizers.length > 1);
  const [first = 'Transaction', ...others] = kinds;
  if (!kinds.includes('Transaction')) state.forgetCreations();
  const latest = Math.max(...settings.synchronizers.map((id) => ledger.recordTimes.latest(id)));
  for (const micros of timesUntilNow(count, latest, random)) {
    const gap = random.chance(0.2) ? 1 + random.below(4) : 0;
    const context = { seed, random, participant, state, offset: ledger.end + 1 + gap, micros };
    const late = kinds.includes('Reassignment') && random.chance(0.04) ? generateLate(context) : undefined;
    yield late ?? generators[random.pick(first, ...others)](context, kinds);
  }
}

/**
 * Returns ascending times in microseconds, about a second apart, the last of which is now. They are closer together if
 * they would otherwise begin too early.
 */
function timesUntilNow(count: number, after: number, random: Random): readonly number[] {
  const clock = Date.now() * 1000;
  const second = clock - (clock % 1_000_000);
  // starts at a full second, so that the same seed has the same fractions of seconds
  const now = second > after ? second : clock;
  let sinceFirst = 0;
  const times = Array.from({ length: count }, () => (sinceFirst += 1 + random.below(2_000_000)));
  const room = Math.max(0, now - after);
  const scale = Math.min(1, room / sinceFirst);
  return times.map((time) => Math.floor(now - (sinceFirst - time) * scale));
}

/** The frequency of each kind of update. */
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

/** Generates an authorization event, of any kind that the release has. */
function generateTopology(context: TrafficContext): LedgerEntry {
  const { random, participant } = context;
  const { synchronizers, profile } = participant.settings;
  const [synchronizer = '', ...otherSynchronizers] = synchronizers;
  const [party = '', ...otherParties] = generatedParties;
  const [home = '', ...others] = participants;
  const hosting = { partyId: random.pick(party, ...otherParties), participantId: random.pick(home, ...others) };
  const permission = random.pick('SUBMISSION', 'CONFIRMATION', 'OBSERVATION');
  const value = { ...hosting, participantPermission: `PARTICIPANT_PERMISSION_${permission}` };
  const added: WireTopologyEvent = { event: { ParticipantAuthorizationAdded: { value } } };
  const changes: readonly WireTopologyEvent[] = [
    { event: { ParticipantAuthorizationChanged: { value } } },
    { event: { ParticipantAuthorizationRevoked: { value: hosting } } },
  ];
  const onboarding: WireTopologyEvent = { event: { ParticipantAuthorizationOnboarding: { value } } };
  const event = random.pick(added, ...changes, ...(profile === '3.4' ? [] : [onboarding]));
  const header = generateHeader(context, random.pick(synchronizer, ...otherSynchronizers));
  return { update: { TopologyTransaction: { value: { ...header, events: [event] } } } };
}

const participants = [`participant1::1220${'11'.repeat(32)}`, `participant2::1220${'22'.repeat(32)}`];
