import type { HistorySchedule } from './Schedule.js';

const plain = {
  reader: 'updates',
  onOtherNode: 'fail',
  nodes: [{ firstOffset: 0, seed: 0 }],
  synchronizers: 2,
  knowsAll: true,
  isApart: true,
  isPushed: false,
  latencyMs: 0,
  checkpointMs: null,
  maxPageSize: 200,
  known: [],
  steps: [],
} as const satisfies HistorySchedule;

const create = (synchronizer: number) =>
  ({ does: 'commit', synchronizer, events: [{ archives: null, sight: 'always' }] }) as const;
const restore = { does: 'restore', node: 0, to: 'before', isSame: false, everyMs: 0, downMs: 0, afterMs: 0 } as const;

/** The address leads to a participant that loses an update, and has another one of an earlier record time in its place. */
const replacedEarlier: HistorySchedule = {
  ...plain,
  onOtherNode: 'relocate',
  nodes: [
    { firstOffset: 0, seed: 647 },
    { firstOffset: 0, seed: 780 },
  ],
  known: [create(1)],
  steps: [
    { does: 'move', node: 1, isFailing: false, afterMs: 0 },
    {
      does: 'lose',
      to: 'at',
      growth: [{ synchronizer: 1, events: [{ archives: 0, sight: 'always' }] }],
      afterMs: 0,
    },
  ],
};

/** Schedules that have failed, reduced. */
export const found: readonly (readonly [name: string, schedule: HistorySchedule])[] = [
  [
    'the last update is read again before that of another synchronizer',
    { ...plain, steps: [{ ...restore, everyMs: 1_200 }] },
  ],
  [
    'a participant is restored twice, and the second time slowly',
    { ...plain, steps: [restore, { ...restore, isSame: true, everyMs: 1_200 }] },
  ],
  [
    'a reader is started again at a participant with lower offsets, where it has emitted nothing',
    {
      ...plain,
      onOtherNode: 'relocate',
      nodes: [
        { firstOffset: 500, seed: 0 },
        { firstOffset: 0, seed: 0 },
      ],
      steps: [{ does: 'move', node: 1, isFailing: false, afterMs: 0 }],
    },
  ],
  [
    'a reader is started again after the first page at another participant',
    {
      ...plain,
      knowsAll: false,
      onOtherNode: 'relocate',
      nodes: [0, 0, 0].map(() => ({ firstOffset: 0, seed: 0 })),
      known: [create(0), create(0), create(0), create(1)],
      steps: [
        { ...create(0), afterMs: 0 },
        { ...create(0), afterMs: 0 },
        { does: 'move', node: 2, isFailing: false, afterMs: 10 },
        { ...create(0), afterMs: 0 },
        { does: 'stop', forMs: 0, afterMs: 14_000 },
      ],
    },
  ],
  [
    'the address leads back before anything was read at the other participant',
    {
      ...plain,
      onOtherNode: 'relocate',
      nodes: [
        { firstOffset: 500, seed: 743 },
        { firstOffset: 0, seed: 0 },
      ],
      latencyMs: 80,
      steps: [
        { ...create(0), afterMs: 700 },
        { does: 'move', node: 1, isFailing: false, afterMs: 0 },
        { does: 'move', node: 0, isFailing: false, afterMs: 700 },
      ],
    },
  ],
  [
    'a reader is started again after an update that came while the participant read again',
    {
      ...plain,
      nodes: [{ firstOffset: 0, seed: 2 }],
      synchronizers: 3,
      steps: [
        { ...restore, everyMs: 1_200 },
        { ...create(1), afterMs: 0 },
      ],
    },
  ],
  [
    'the last update is back at its offset, and another one has changed places with it',
    { ...plain, isApart: false, steps: [restore] },
  ],
  [
    'the last update is back at its offset, and something that was not read is before it',
    {
      ...plain,
      isApart: false,
      nodes: [{ firstOffset: 0, seed: 8079 }],
      latencyMs: 5,
      checkpointMs: 450,
      steps: [
        { does: 'stop', forMs: 20_000, afterMs: 14_000 },
        { ...create(0), afterMs: 0 },
        { ...create(1), afterMs: 0 },
        { ...restore, downMs: 15_000, afterMs: 3_000 },
      ],
    },
  ],
  [
    'two participants answer in turn, and requests are not repeated without a pause',
    {
      ...plain,
      onOtherNode: 'relocate',
      nodes: [
        { firstOffset: 7, seed: 806 },
        { firstOffset: 0, seed: 0 },
      ],
      maxPageSize: 1,
      steps: [
        { ...create(0), afterMs: 0 },
        { ...create(0), afterMs: 3_000 },
        { ...create(1), afterMs: 0 },
        { does: 'turn', node: 0, forMs: 400, afterMs: 3_000 },
        { does: 'move', node: 1, isFailing: true, afterMs: 0 },
      ],
    },
  ],
  [
    'the updates of one synchronizer are lost, and nothing comes after them',
    {
      ...plain,
      known: [create(1), create(1)],
      steps: [{ does: 'lose', to: 'before', growth: [], afterMs: 0 }],
    },
  ],
  [
    'an update appears in the page that has the next one, and the rows are stored before that',
    {
      ...plain,
      reader: 'rows',
      checkpointMs: 450,
      known: [create(0)],
      steps: [
        { does: 'commit', synchronizer: 0, events: [{ archives: null, sight: 'uploaded' }], afterMs: 0 },
        { ...create(0), afterMs: 3_000 },
        { does: 'see', sight: 'uploaded', afterMs: 0 },
        { does: 'fail', how: 'cut', forMs: 0, afterMs: 0 },
      ],
    },
  ],
  [
    'a participant that reads again loses the rest, of which the reader has more than its last update',
    {
      ...plain,
      synchronizers: 3,
      steps: [
        { ...create(0), afterMs: 0 },
        {
          ...{ does: 'lose', to: 'end', afterMs: 3_000 },
          growth: [create(2), create(0), create(0)],
        },
        ...[2, 2, 0, 0].map((synchronizer) => ({ ...create(synchronizer), afterMs: 0 })),
        { ...restore, to: 'start', everyMs: 1_200, afterMs: 3_000 },
        { ...create(0), afterMs: 0 },
        { does: 'advance', node: 0, offsets: 1, afterMs: 14_000 },
        { does: 'lose', to: 'before', growth: [], afterMs: 0 },
      ],
    },
  ],
  [
    'such a participant loses what the reader has of one synchronizer, and another update comes in its place',
    {
      ...plain,
      steps: [
        { ...create(1), afterMs: 0 },
        { ...create(0), afterMs: 0 },
        { ...restore, to: 'start', everyMs: 1_200, afterMs: 3_000 },
        { does: 'lose', to: 'end', growth: [], afterMs: 3_000 },
        { ...create(1), afterMs: 700 },
      ],
    },
  ],
  [
    'an empty ledger takes the place of the first between the contracts and their position',
    {
      ...plain,
      reader: 'view',
      synchronizers: 1,
      latencyMs: 80,
      steps: [
        { does: 'stop', forMs: 400, afterMs: 0 },
        { does: 'replace', isOtherParticipant: false, growth: [], downMs: 0, afterMs: 700 },
      ],
    },
  ],
  [
    'two participants answer in turn, each with what was read before, and nothing new ends the pauses',
    {
      ...plain,
      onOtherNode: 'relocate',
      nodes: [
        { firstOffset: 0, seed: 0 },
        { firstOffset: 0, seed: 0 },
      ],
      synchronizers: 3,
      steps: [
        { ...create(1), afterMs: 0 },
        { does: 'turn', node: 0, forMs: 1_500, afterMs: 0 },
        { does: 'move', node: 1, isFailing: false, afterMs: 0 },
        { does: 'stop', forMs: 0, afterMs: 0 },
      ],
    },
  ],
  [
    'the last update is back while the page that has it is proven',
    {
      ...plain,
      known: [create(0)],
      steps: [
        { ...restore, isSame: true, everyMs: 1_200 },
        { ...restore, isSame: true, afterMs: 3_000 },
      ],
    },
  ],
  [
    'a restored ledger has lost the last update of a synchronizer, and has nothing later of it',
    {
      ...plain,
      nodes: [{ firstOffset: 0, seed: 35 }],
      synchronizers: 3,
      steps: [restore, restore, { does: 'lose', to: 'past', growth: [], afterMs: 0 }, { ...create(1), afterMs: 0 }],
    },
  ],
  [
    'the address leads to another participant after a stop, and the position was stored before a participant was known',
    {
      ...plain,
      synchronizers: 1,
      nodes: [0, 0].map((seed) => ({ firstOffset: 0, seed })),
      steps: [
        { does: 'stop', forMs: 0, afterMs: 3_000 },
        { does: 'move', node: 1, isFailing: false, afterMs: 0 },
      ],
    },
  ],
  [
    'the address leads to another participant that has the last update at the same offset',
    {
      ...plain,
      // the second one has the seed after its own
      nodes: [1, 0].map((seed) => ({ firstOffset: 0, seed })),
      steps: [{ does: 'move', node: 1, isFailing: false, afterMs: 20_000 }],
    },
  ],
  [
    'an update is moved before the cursor by a restore, where the last update is pruned',
    {
      ...plain,
      steps: [
        { does: 'commit', synchronizer: 1, events: [{ archives: null, sight: 'never' }], afterMs: 0 },
        { does: 'prune', node: 0, to: 'at', afterMs: 28_000 },
        { ...restore, to: 'past' },
        { ...create(0), afterMs: 14_000 },
        { ...restore, to: 'at' },
        { ...create(0), afterMs: 0 },
      ],
    },
  ],
  [
    'two participants answer in turn, one of which has the last update at its offset',
    {
      ...plain,
      onOtherNode: 'relocate',
      nodes: [
        { firstOffset: 0, seed: 0 },
        { firstOffset: 0, seed: 0 },
        { firstOffset: 0, seed: 692 },
      ],
      known: [create(0)],
      steps: [
        ...[0, null, 0, null].map((archives, i) => ({
          ...({ does: 'commit', synchronizer: 0, afterMs: 0 } as const),
          events: [{ archives, sight: i === 1 ? ('never' as const) : ('always' as const) }],
        })),
        { does: 'commit', synchronizer: 0, events: [{ archives: 0, sight: 'always' }], afterMs: 700 },
        { ...create(1), afterMs: 10 },
        { does: 'move', node: 0, isFailing: true, afterMs: 0 },
        { does: 'turn', node: 2, forMs: 6_000, afterMs: 0 },
      ],
    },
  ],
  ['a lost update is replaced by one of an earlier record time, and nothing comes after them', replacedEarlier],
  [
    'a lost update is replaced by one of an earlier record time, and the next one shows the loss',
    { ...replacedEarlier, steps: [...replacedEarlier.steps, { ...create(1), afterMs: 20_000 }] },
  ],
  [
    'a socket is opened by another participant, which has the last update at the same offset',
    {
      ...plain,
      onOtherNode: 'relocate',
      nodes: [
        { firstOffset: 0, seed: 3 },
        { firstOffset: 0, seed: 42 },
      ],
      isApart: false,
      isPushed: true,
      latencyMs: 80,
      known: [create(0), create(0), create(1), create(1)],
      steps: [
        { does: 'move', node: 1, isFailing: false, afterMs: 401 },
        { ...create(0), afterMs: 5 },
      ],
    },
  ],
];
