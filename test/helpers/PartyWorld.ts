/** A participant of which each party sees its own contracts. */
import { tap } from 'rxjs';
import type { HttpResponse } from '../../src/http/HttpPort.js';
import { createLedger } from '../../src/ledger/createLedger.js';
import type { Ledger } from '../../src/ledger/Ledger.js';
import { active, archived, created } from './contractEvents.js';
import { partiesIn } from './partyHistory.js';
import type { Reply, ServiceRequest } from './scripted.js';
import { type ContractsWorld, contractsWorld } from './virtualContracts.js';
import { transactionWith } from './wire.js';

const home = 'home::1220ab';
const away = 'away::1220ab';

export const alice = 'alice::1220ab';
export const bob = 'bob::1220ab';
export const carol = 'carol::1220ab';

/** A contract, by its ID: the first letters of its stakeholders, and a number, such as `ab1`. Those with `@` are on another synchronizer. */
const stakeholdersOf = (contractId: string): readonly string[] =>
  contractId.startsWith('p')
    ? [`${contractId.split('-')[0] ?? ''}::1220ab`]
    : [alice, bob, carol].filter((party) => contractId.replace(/\d+/, '').includes(party.slice(0, 1)));

/** The parties of each request, which asks for many elements. */
const requested = new WeakMap<object, ReadonlySet<string>>();

function partiesOf(body: object): ReadonlySet<string> {
  const known = requested.get(body) ?? new Set(partiesIn(body));
  requested.set(body, known);
  return known;
}

/** What some parties see of a contract on the wire. */
const shownTo = (element: object, body: object): object | undefined => {
  const text = JSON.stringify(element);
  const [, contractId = ''] = /"contractId":"([^"]*)"/.exec(text) ?? [];
  const parties = partiesOf(body);
  const witnesses = stakeholdersOf(contractId).filter((party) => parties.has(party));
  if (witnesses.length === 0) return undefined;
  const shown = text.replaceAll(/"witnessParties":\[[^\]]*\]/g, `"witnessParties":${JSON.stringify(witnesses)}`);
  return JSON.parse(shown) as object;
};

/** What happened to a contract. */
interface Happened {
  readonly contractId: string;
  readonly isEnd: boolean;
  /** Its number in the history, which is the same on every participant. */
  readonly number: number;
  offset: number;
}

const activation = (contractId: string, offset: number) => ({
  contractId,
  offset,
  signatories: stakeholdersOf(contractId),
});

const firstTime = Date.parse('2026-07-24T10:00:00Z');

/** An update on the wire. */
const entryOf = ({ contractId, isEnd, number, offset }: Happened) => ({
  offset,
  element: transactionWith(offset, {
    updateId: `1220${number}`,
    recordTime: new Date(firstTime + number * 1_000).toISOString(),
    synchronizerId: contractId.includes('@') ? away : home,
    events: [isEnd ? archived(contractId, offset) : created(activation(contractId, offset))],
  }),
});

/** A participant of which each party sees its own contracts. Contracts are created at the offsets from 1 on. */
export class PartyWorld {
  readonly world: ContractsWorld;
  /** The parties of the requests for snapshots. */
  readonly snapshots: (readonly string[])[] = [];
  /** The number of elements in all answers. */
  received = 0;
  /** Returns the reply to a request if it fails. */
  fault: (request: ServiceRequest) => Reply | undefined = () => undefined;
  /** Whether it ignores the order of updates that a request names, as before 3.5. */
  ignoresOrder = false;
  readonly client: Ledger;
  private readonly contracts = new Map<string, number>();
  private readonly elements = new Map<string, object>();
  private readonly ended = new Map<string, number>();
  private readonly history: Happened[] = [];

  constructor(...contractIds: readonly string[]) {
    this.world = contractsWorld({
      show: shownTo,
      latencyMs: 10,
      participantId: 'participant::1220ab',
      fault: (request) => this.fault(request),
    });
    const { participant, service } = this.world;
    participant.elementsAt = (offset) =>
      [...this.contracts]
        .filter(([contractId, at]) => at <= offset && (this.ended.get(contractId) ?? Infinity) > offset)
        .map(([contractId, at]) => this.elementOf(contractId, at));
    this.create(...contractIds);
    this.client = createLedger({
      baseUrl: 'http://ledger.example',
      port: (request) => {
        if (request.url.includes('/v2/state/active-contracts'))
          this.snapshots.push(partiesIn(JSON.parse(request.body ?? '{}') as object));
        const body = this.ignoresOrder
          ? request.body?.replace('"descendingOrder":true', '"descendingOrder":false')
          : request.body;
        return service.port({ ...request, ...(body !== undefined && { body }) }).pipe(
          tap(({ text }: HttpResponse) => {
            this.received += text.split('"contractId"').length - 1;
          }),
        );
      },
    });
  }

  private elementOf(contractId: string, at: number): object {
    const element = this.elements.get(contractId) ?? active(activation(contractId, at), home);
    this.elements.set(contractId, element);
    return element;
  }

  create(...contractIds: readonly string[]): void {
    for (const contractId of contractIds) this.append(contractId, false);
  }

  archive(contractId: string): void {
    this.append(contractId, true);
  }

  /** Restores the participant: it has read its history again, and what is after an offset is at others now. */
  move(after: number, by: number): void {
    for (const happened of this.history.filter(({ offset }) => offset > after)) {
      happened.offset += by;
      this.note(happened);
    }
    this.elements.clear();
    const end = this.end > after ? this.end + by : this.end;
    this.world.participant.ledger.replace(this.history.map(entryOf), end);
  }

  /** Restores the participant: the updates of one synchronizer are between those of another one in another way. */
  interleave(...contractIds: readonly string[]): void {
    for (const happened of this.history) {
      happened.offset = 1 + contractIds.indexOf(happened.contractId);
      this.note(happened);
    }
    this.elements.clear();
    const inOrder = [...this.history].sort((a, b) => a.offset - b.offset);
    this.world.participant.ledger.replace(inOrder.map(entryOf), this.end);
  }

  /** Replaces the ledger by another one, on a participant of the same ID. */
  becomes({ world }: PartyWorld): void {
    const { ledger, elementsAt } = world.participant;
    this.world.participant.elementsAt = elementsAt;
    this.world.participant.ledger.replace(ledger.between(0, ledger.end), ledger.end);
  }

  /** The contracts that some parties see, and which of them see each. */
  seenBy(parties: readonly string[]): Readonly<Record<string, readonly string[]>> {
    const active = [...this.contracts.keys()].filter((contractId) => !this.ended.has(contractId));
    const seen = active.map((contractId) => {
      const witnesses = stakeholdersOf(contractId).filter((party) => parties.includes(party));
      return [contractId, witnesses] as const;
    });
    return Object.fromEntries(seen.filter(([, witnesses]) => witnesses.length > 0));
  }

  private append(contractId: string, isEnd: boolean): void {
    const happened = { contractId, isEnd, number: this.history.length + 1, offset: this.end + 1 };
    this.history.push(happened);
    this.note(happened);
    const { offset, element } = entryOf(happened);
    this.world.participant.ledger.append(offset, element);
  }

  private note({ contractId, isEnd, offset }: Happened): void {
    (isEnd ? this.ended : this.contracts).set(contractId, offset);
  }

  get end(): number {
    return this.world.participant.ledger.end;
  }
}
