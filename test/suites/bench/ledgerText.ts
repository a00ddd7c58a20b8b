import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';

/** The first offset of the benchmarks' ledgers: so high that all offsets have the same number of digits. */
export const origin = 1_000_000_000;

/** How many different elements there are before they repeat, at other offsets. */
export const cycle = 200;

/**
 * The pages of a ledger whose nth update, from 1 on, has the offset `origin + n * step`. A page is a copy of a prepared
 * text with its offsets filled in, so that the server's work does not distort the figures.
 */
export function pagesOf(kind: Kind, step: number): (first: number, count: number) => Buffer {
  const once = Array.from({ length: cycle }, (_, n) => elementText(kind, n));
  const texts = [...once, ...once];
  const all = Buffer.from(texts.join(','), 'latin1');
  const starts: number[] = [];
  const places: (readonly Place[])[] = [];
  let start = 0;
  for (const text of texts) {
    starts.push(start);
    const markers = [...text.matchAll(new RegExp(`${marker}|${formerMarker}`, 'g'))];
    places.push(markers.map(({ index, 0: found }) => ({ at: start + index, isFormer: found !== String(marker) })));
    start += text.length + 1;
  }
  starts.push(start);
  return (first, count) => {
    const from = first % cycle;
    const begin = starts[from] ?? 0;
    const end = Math.max(begin, (starts[from + count] ?? 0) - 1);
    const page = Buffer.allocUnsafe(end - begin + 2);
    page.write('[', 0, 'latin1');
    all.copy(page, 1, begin, count === 0 ? begin : end);
    for (let i = 0; i < count; i += 1) {
      const offset = origin + (first + i) * step;
      const text = String(offset);
      for (const { at, isFormer } of places[from + i] ?? []) {
        const written = isFormer ? String(Math.max(origin, offset - cycle * step)) : text;
        page.write(written, at - begin + 1, 'latin1');
      }
    }
    page.write(']', count === 0 ? 1 : end - begin + 1, 'latin1');
    return count === 0 ? page.subarray(0, 2) : page;
  };
}

/** Where an offset is in the text of the elements, its own or the one a cycle before. */
interface Place {
  readonly at: number;
  readonly isFormer: boolean;
}

/**
 * The contents of a ledger: checkpoints of 0.4 kB, transactions of 1.9 kB or of 10 kB, small ones, or a mix of everything;
 * transactions that each create a contract, of which every second archives one that was created before; or active contracts
 * of 1.2 kB in place of updates.
 */
export type Kind = 'cp' | 'tx' | 'big' | 'small' | 'mix' | 'change' | 'contract';

/** Stands for the offset in an element's text; it has as many digits as every offset. */
export const marker = 7777777777;

/** Stands for the offset that is a cycle before: of the element with the same text. */
const formerMarker = 7777777776;

const hex = (...seed: readonly (string | number)[]): string => createHash('sha256').update(seed.join()).digest('hex');
const party = (name: string, n: number): string => `${name}${n % 7}::1220${hex(name, n % 7)}`;
const at = (n: number): string => `2026-07-24T10:${String(n % 60).padStart(2, '0')}:00.${100_000 + (n % 900_000)}Z`;

export const synchronizerId = (n = 0): string => `global${n}::1220${hex('sync', n)}`;
const traceContext = (n: number): object => ({
  traceparent: `00-${hex('trace', n).slice(0, 32)}-${hex(n).slice(0, 16)}-01`,
  tracestate: null,
});
const templateId = (n: number): string => `${hex('package', n % 5)}:Splice.Amulet:Asset${n % 5}`;
const contractId = (n: number): string => `00${hex('contract', n)}ca1112${hex('suffix', n)}`;

const created = (n: number, nodeId: number, createArgument: object, createdEventBlob = ''): object => ({
  offset: marker,
  nodeId,
  contractId: contractId(n),
  templateId: templateId(n),
  contractKey: null,
  contractKeyHash: '',
  createArgument,
  createdEventBlob,
  interfaceViews: [],
  witnessParties: [party('alice', n)],
  signatories: [party('dso', 0), party('alice', n)],
  observers: [],
  createdAt: at(n),
  packageName: 'splice-amulet',
  representativePackageId: hex('package', n % 5),
  acsDelta: true,
});
const archived = (n: number, nodeId: number): object => ({
  offset: marker,
  nodeId,
  contractId: contractId(n + 1),
  templateId: templateId(n),
  witnessParties: [party('alice', n)],
  packageName: 'splice-amulet',
  implementedInterfaces: [],
});
const asset = (n: number): object => ({
  owner: party('alice', n),
  amount: {
    initialAmount: `${n}.0000000000`,
    createdAt: { number: String(n) },
    ratePerRound: { rate: '0.0000190259' },
  },
  lock: null,
  meta: { values: [['reason', `transfer ${n}`]] },
});
const holdings = (n: number): object => ({
  ...asset(n),
  holdings: Array.from({ length: 30 }, (_, i) => ({ id: contractId(n + i), amount: `${i}.5`, isLocked: false })),
});

const transaction = (n: number, events: readonly object[]): object => ({
  Transaction: {
    value: {
      updateId: `1220${hex('update', n)}`,
      commandId: n % 3 === 0 ? `command-${n}` : '',
      workflowId: '',
      effectiveAt: at(n),
      events,
      offset: marker,
      synchronizerId: synchronizerId(),
      traceContext: n % 4 === 0 ? null : traceContext(n),
      recordTime: at(n + 1),
      externalTransactionHash: null,
      paidTrafficCost: n % 3 === 0 ? 1_234 + n : null,
    },
  },
});
const tx = (n: number): object => {
  const first = { CreatedEvent: created(n, 0, asset(n)) };
  return transaction(n, n % 2 === 0 ? [first] : [{ ArchivedEvent: archived(n, 0) }, first]);
};
const big = (n: number): object =>
  transaction(n, [{ CreatedEvent: created(n, 0, holdings(n), hex('blob', n).repeat(40)) }]);
const small = (n: number): object => transaction(n, []);

const cp = (n: number): object => ({
  OffsetCheckpoint: {
    value: {
      offset: marker,
      synchronizerTimes: [0, 1, 2].map((i) => ({ synchronizerId: synchronizerId(i), recordTime: at(n + i) })),
    },
  },
});
const move = (n: number): object => ({
  reassignmentId: hex('reassignment', n),
  source: synchronizerId(0),
  target: synchronizerId(1),
  submitter: n % 2 === 0 ? party('alice', n) : null,
  reassignmentCounter: n,
});
const unassigned = (n: number): object => ({
  JsUnassignedEvent: {
    value: {
      ...move(n),
      contractId: contractId(n),
      templateId: templateId(n),
      assignmentExclusivity: null,
      witnessParties: [party('alice', n)],
      packageName: 'splice-amulet',
      offset: marker,
      nodeId: 0,
    },
  },
});
const assigned = (n: number): object => ({ JsAssignmentEvent: { ...move(n), createdEvent: created(n, 0, asset(n)) } });
const reassignment = (n: number): object => ({
  Reassignment: {
    value: {
      updateId: `1220${hex('update', n)}`,
      commandId: '',
      workflowId: '',
      offset: marker,
      events: [n % 2 === 0 ? unassigned(n) : assigned(n)],
      traceContext: traceContext(n),
      recordTime: at(n),
      synchronizerId: synchronizerId(n % 2),
      paidTrafficCost: null,
    },
  },
});
const topology = (n: number): object => ({
  TopologyTransaction: {
    value: {
      updateId: `1220${hex('update', n)}`,
      events: ['ParticipantAuthorizationAdded', 'ParticipantAuthorizationChanged'].map((kind) => ({
        event: {
          [kind]: {
            value: {
              partyId: party('alice', n),
              participantId: party('participant', n),
              participantPermission: 'PARTICIPANT_PERMISSION_CONFIRMATION',
            },
          },
        },
      })),
      offset: marker,
      synchronizerId: synchronizerId(),
      traceContext: traceContext(n),
      recordTime: at(n),
    },
  },
});

const mixed = [tx, cp, tx, reassignment, tx, big, tx, topology, tx, cp];
const mix = (n: number): object => (mixed[n % mixed.length] ?? tx)(Math.floor(n / 2));

/** The offset in it makes the id unique. */
const uniqueId = (n: number, offset: number): string => `00${hex('contract', n)}${offset}ca1112${hex('suffix', n)}`;
const change = (n: number): object => {
  const createdEvent = { ...created(n, 1, asset(n)), contractId: uniqueId(n, marker) };
  const former = { ...archived(n, 0), contractId: uniqueId(n, formerMarker) };
  return transaction(n, [...(n % 2 === 0 ? [] : [{ ArchivedEvent: former }]), { CreatedEvent: createdEvent }]);
};

const contract = (n: number): object => ({
  workflowId: '',
  contractEntry: {
    JsActiveContract: {
      createdEvent: { ...created(n, 0, asset(n)), contractId: uniqueId(n, marker) },
      synchronizerId: synchronizerId(),
      reassignmentCounter: 0,
    },
  },
  streamContinuationToken: '',
});

const makers: Readonly<Record<Exclude<Kind, 'contract'>, (n: number) => object>> = {
  cp,
  tx,
  big,
  small,
  mix,
  change,
};

/** The text of the nth element of a kind, with the marker for each offset. */
export const elementText = (kind: Kind, n: number): string =>
  JSON.stringify(kind === 'contract' ? contract(n) : { update: makers[kind](n) });
