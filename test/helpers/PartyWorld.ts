/** A participant of which each party sees its own contracts. */
import { tap } from 'rxjs';
import type { HttpResponse } from '../../src/http/HttpPort.js';
import { createLedger } from '../../src/ledger/createLedger.js';
import type { Ledger } from '../../src/ledger/Ledger.js';
import { active, archived, created, transactionOf } from './contractEvents.js';
import { partiesIn } from './partyHistory.js';
import { type ContractsWorld, contractsWorld } from './virtualContracts.js';

const home = 'home::1220ab';

export const alice = 'alice::1220ab';
export const bob = 'bob::1220ab';
export const carol = 'carol::1220ab';

/** A contract, by its ID: the first letters of its stakeholders, and a number, such as `ab1`. */
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

const activation = (contractId: string, offset: number) => ({
  contractId,
  offset,
  signatories: stakeholdersOf(contractId),
});

/** A participant of which each party sees its own contracts. Contracts are created at the offsets from 1 on. */
export class PartyWorld {
  readonly world: ContractsWorld;
  /** The parties of the requests for snapshots. */
  readonly snapshots: (readonly string[])[] = [];
  /** The number of elements in all answers. */
  received = 0;
  readonly client: Ledger;
  private readonly contracts = new Map<string, number>();
  private readonly elements = new Map<string, object>();
  private readonly ended = new Map<string, number>();

  constructor(...contractIds: readonly string[]) {
    this.world = contractsWorld({ show: shownTo, latencyMs: 10, participantId: 'participant::1220ab' });
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
        return service.port(request).pipe(
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
    for (const contractId of contractIds) {
      const offset = this.end + 1;
      this.contracts.set(contractId, offset);
      const element = transactionOf(offset, home, [created(activation(contractId, offset))]);
      this.world.participant.ledger.append(offset, element);
    }
  }

  archive(contractId: string): void {
    const offset = this.end + 1;
    this.ended.set(contractId, offset);
    this.world.participant.ledger.append(offset, transactionOf(offset, home, [archived(contractId, offset)]));
  }

  get end(): number {
    return this.world.participant.ledger.end;
  }
}
