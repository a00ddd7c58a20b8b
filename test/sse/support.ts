import { BehaviorSubject, Observable, type Subscriber } from 'rxjs';
import { CreatedEvent } from '../../src/codecs/Event.js';
import { Update } from '../../src/codecs/Update.js';
import { type AnyContract, makeContract } from '../../src/contracts/Contract.js';
import type { ContractsBatch, ContractsChanged, Moved } from '../../src/contracts/ContractChange.js';
import { ContractList } from '../../src/contracts/ContractSet.js';
import { type LiveContracts, toLiveContracts } from '../../src/contracts/liveContracts.js';
import { loading, type View } from '../../src/contracts/LiveState.js';
import { createdEvent, transactionOf } from '../helpers/contractEvents.js';

export const [alice, bob, carol] = ['alice::1220ab', 'bob::1220cd', 'carol::1220ef'] as const;

const make = makeContract();

/** The payload of a contract, which nobody else may read. */
export const secretOf = (contractId: string): string => `secret of ${contractId}.`;

/** What a test may say of a contract. */
interface ContractFields {
  readonly offset?: number;
  readonly payload?: unknown;
  readonly synchronizerId?: string;
  readonly moves?: number;
}

/** A contract as `liveContracts` has it: of some parties, the first of which has signed it. */
export function contract(
  contractId: string,
  parties: readonly string[] = [alice],
  { offset = 1, payload = secretOf(contractId), synchronizerId = 'sync-a::1220ab', moves = 0 }: ContractFields = {},
): AnyContract {
  const [signatory = '', ...observers] = parties;
  const event = createdEvent({
    ...{ contractId, offset, signatories: [signatory], observers, witnessParties: parties },
    createArgument: { payload },
  });
  const decoded = CreatedEvent.decode(event);
  if (decoded._tag === 'Left') throw new Error('not a created event');
  const made = make(decoded.right, { synchronizerId }, moves);
  if (made === undefined) throw new Error('not a contract');
  return made;
}

/** What happens to the contracts in one update. */
export interface Happening {
  readonly add?: readonly AnyContract[];
  readonly remove?: readonly string[];
  /** Contracts that move to the other synchronizer, maybe in another form. */
  readonly move?: readonly (string | AnyContract)[];
}

/** The live view of a server, to which things happen when the test says so. */
export class ServerView {
  private readonly view$ = new BehaviorSubject<View<AnyContract>>(loading);
  private subscribers: Subscriber<View<AnyContract>>[] = [];
  private list = new ContractList<AnyContract>();
  offset = 0;

  constructor(private readonly parties: readonly string[] | 'any' = [alice, bob, carol]) {}

  readonly live: LiveContracts = toLiveContracts(
    new Observable<View<AnyContract>>((subscriber) => {
      this.subscribers.push(subscriber);
      const subscription = this.view$.subscribe(subscriber);
      return () => {
        this.subscribers.splice(this.subscribers.indexOf(subscriber), 1);
        subscription.unsubscribe();
      };
    }),
    this.parties,
  );

  get subscriptions(): number {
    return this.subscribers.length;
  }

  get contracts(): readonly AnyContract[] {
    return this.list.snapshot.toArray();
  }

  reset(contracts: readonly AnyContract[], reason?: 'pruned' | 'ledgerReset', offset = this.offset + 1): void {
    this.list = new ContractList();
    for (const each of contracts) this.list.set(each.contractId, each);
    this.offset = offset;
    this.step({ _tag: 'Reset', reason: reason ?? 'start', offset, contracts: this.contracts });
  }

  change({ add = [], remove = [], move = [] }: Happening): void {
    this.offset += 1;
    const { offset } = this;
    const removed = remove.flatMap((id) => this.list.get(id) ?? []);
    const moved = move.flatMap((each): Moved[] => {
      const former = this.list.get(typeof each === 'string' ? each : each.contractId);
      if (former === undefined) return [];
      return [{ contract: elsewhere(typeof each === 'string' ? former : each), from: former.location }];
    });
    for (const id of remove) this.list.set(id, undefined);
    for (const each of [...add, ...moved.map((one) => one.contract)]) this.list.set(each.contractId, each);
    const wire = [
      ...add.map(({ createdEvent: event }) => ({ CreatedEvent: CreatedEvent.encode(event) })),
      ...removed.map(({ createdEvent: { contractId, templateId, packageName, witnessParties } }, nodeId) => ({
        ArchivedEvent: { offset, nodeId, contractId, templateId, packageName, witnessParties },
      })),
    ];
    const element = transactionOf(offset, 'sync-a::1220ab', wire) as { readonly update: unknown };
    const decoded = Update.decode(element.update);
    if (decoded._tag === 'Left' || decoded.right._tag !== 'Transaction') throw new Error('not a transaction');
    const update = decoded.right;
    const { updateId, synchronizerId, recordTime } = update;
    const facts = { offset, updateId, synchronizerId, recordTime };
    this.step({ _tag: 'ContractsChanged', ...facts, update, added: add, removed, moved } satisfies ContractsChanged);
  }

  checkpoint(): void {
    this.offset += 1;
    const synchronizerTimes = [{ synchronizerId: 'sync-a::1220ab', recordTime: '2026-07-24T10:00:00Z' }];
    this.step({ _tag: 'OffsetCheckpoint', offset: this.offset, synchronizerTimes });
  }

  /** The view lags the ledger, or has caught up again. */
  catchUp(isCaughtUp: boolean): void {
    const { known } = this.view$.value;
    if (known === undefined) return;
    this.view$.next({ ...this.view$.value, isLive: isCaughtUp, known: { ...known, items: [], isCaughtUp } });
  }

  fail(error: unknown): void {
    for (const subscriber of [...this.subscribers]) subscriber.error(error);
  }

  end(): void {
    this.view$.complete();
  }

  private step(...items: ContractsBatch<AnyContract>['items']): void {
    const position = { offset: this.offset, recordTimes: {} };
    const origin = { before: position, isAddressed: true };
    const known = { items, position, origin, offset: this.offset, isCaughtUp: true, contracts: this.list.snapshot };
    this.view$.next({ connection: { status: 'open' }, isLive: true, known });
  }
}

const elsewhere = (former: AnyContract): AnyContract => {
  const { location, reassignmentCounter } = former;
  const isHere = 'synchronizerId' in location && location.synchronizerId === 'sync-a::1220ab';
  const synchronizerId = isHere ? 'sync-b::1220ab' : 'sync-a::1220ab';
  return { ...former, location: { synchronizerId }, reassignmentCounter: reassignmentCounter + 1 };
};

const readers: StreamReader[] = [];

/** Cancels all streams that tests have read, so that no timer is left. */
export const cancelAll = async (): Promise<void> => {
  for (const reader of readers.splice(0)) await reader.cancel();
};

/** A reader of a stream, which takes one chunk at a time. */
export class StreamReader {
  private readonly reader: ReadableStreamDefaultReader<Uint8Array>;
  private readonly decoder = new TextDecoder();

  constructor(stream: ReadableStream<Uint8Array>) {
    this.reader = stream.getReader();
    readers.push(this);
  }

  /** The next chunk; `undefined` at the end. */
  async text(): Promise<string | undefined> {
    const { value } = await this.reader.read();
    return value && this.decoder.decode(value, { stream: true });
  }

  /** The next chunks, without the first that says how to retry. */
  async texts(count: number): Promise<readonly (string | undefined)[]> {
    const texts: (string | undefined)[] = [];
    while (texts.length < count) {
      const text = await this.text();
      if (text?.startsWith('retry') !== true) texts.push(text);
    }
    return texts;
  }

  cancel(): Promise<void> {
    return this.reader.cancel();
  }
}

/** An event on one line: `reset 1 a,b`, `changed 2 +c -a` or `caughtUp 2`. */
export function briefEvent(text: string | undefined): string | undefined {
  const data = text === undefined ? undefined : /^data: (.*)$/m.exec(text)?.[1];
  if (data === undefined) return text;
  const event = JSON.parse(data) as SentData;
  const name = /^event: (.*)$/m.exec(text ?? '')?.[1];
  const idsOf = (sent: SentData['contracts'] = []): string => sent.map((each) => each.createdEvent.contractId).join();
  const parts = [
    event.reason,
    event.contracts && idsOf(event.contracts),
    event.added?.length ? `+${idsOf(event.added)}` : undefined,
    event.removed?.length ? `-${event.removed.join()}` : undefined,
    event.moved?.length ? `~${idsOf(event.moved)}` : undefined,
    event.error,
  ];
  return [name, event.offset, ...parts].filter((part) => part !== undefined && part !== '').join(' ');
}

interface SentData {
  readonly offset?: number;
  readonly reason?: string;
  readonly error?: string;
  readonly removed?: readonly string[];
  readonly contracts?: readonly { readonly createdEvent: { readonly contractId: string } }[];
  readonly added?: SentData['contracts'];
  readonly moved?: SentData['contracts'];
}

/** The ID of an event. */
export const idOf = (text: string | undefined): string => /^id: (.*)$/m.exec(text ?? '')?.[1] ?? '';
