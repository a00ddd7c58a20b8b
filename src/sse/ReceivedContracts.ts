import { type Problem, problemsOf } from '../codecs/Problem.js';
import type { Offset } from '../codecs/scalars.js';
import type { AnyContract, MakeContract } from '../contracts/Contract.js';
import { type ContractsBatch, differenceOf, isDifference, isSameContract } from '../contracts/ContractChange.js';
import { ContractList } from '../contracts/ContractSet.js';
import { DecodeError } from '../errors/feed.js';
import { bareOffset } from '../codecs/LedgerPosition.js';
import { codecOf, type ContractsEvent, type SentChange, type SentContract, wireVersion } from './ContractsEvent.js';
import { endedError, type RemoteServer } from './receive.js';
import type { ServerSentEvent } from './ServerSentEvent.js';
import { TaggedError } from '../errors/internal/message.js';

/** The maximum length of the name of an error. */
const maxNameLength = 100;

type Items<C extends AnyContract> = ContractsBatch<C>['items'][number];

/** The contracts of a server, after the last event that was received of it. */
export class ReceivedContracts<C extends AnyContract> {
  /** The ID of the last event; empty if there is none. */
  lastEventId = '';
  #contracts: ContractList<C> | undefined;
  #offset: Offset = 0;
  #isCaughtUp = false;

  constructor(
    private readonly server: Pick<RemoteServer, 'url' | 'host'>,
    private readonly make: MakeContract<C>,
  ) {}

  /** The offset up to which all changes were received. */
  get offset(): Offset {
    return this.#offset;
  }

  /** Notes that there may be changes that were not received, until an event says that there are none. */
  begin(): void {
    this.#isCaughtUp = false;
  }

  /** Applies events. Returns what has changed; `undefined` if they show nothing of the contracts. */
  apply(events: readonly ServerSentEvent[]): ContractsBatch<C> | undefined {
    const items: Items<C>[] = [];
    let isOfContracts = false;
    for (const event of events) {
      const decoded = this.#decode(event);
      if (decoded !== undefined) {
        items.push(...this.#applyEvent(decoded));
        isOfContracts = true;
      }
      this.lastEventId = event.id;
    }
    const contracts = this.#contracts;
    if (!isOfContracts || contracts === undefined) return undefined;
    const position = bareOffset(this.#offset);
    const origin = { before: position, isAddressed: true };
    return {
      ...{ items, position, origin, offset: this.#offset, isCaughtUp: this.#isCaughtUp },
      contracts: contracts.snapshot,
    };
  }

  /** Returns `undefined` for an event that this version does not know. */
  #decode({ event, data }: ServerSentEvent): ContractsEvent | undefined {
    const codec = codecOf(event);
    if (codec === undefined) return undefined;
    const json = this.#parse(data);
    const version = typeof json === 'object' && json !== null && 'version' in json ? json.version : wireVersion;
    if (typeof version === 'number' && version !== wireVersion)
      throw new WireVersionError(this.server.url.pathname, version);
    const decoded = codec.decode(json);
    if (decoded._tag === 'Left') return this.#fail(problemsOf(decoded.left));
    return decoded.right;
  }

  #parse(data: string): unknown {
    try {
      return JSON.parse(data);
    } catch {
      // without the message of JSON.parse, which may contain a payload
      return this.#fail([{ path: '', expected: 'JSON' }]);
    }
  }

  #applyEvent(event: ContractsEvent): readonly Items<C>[] {
    if (event._tag === 'Failed')
      throw endedError(this.server, `the view of the server failed with ${event.error.slice(0, maxNameLength)}`);
    if (event._tag === 'Reset') {
      this.#offset = event.offset;
      this.#isCaughtUp = event.isCaughtUp;
      const contracts = this.#load(event.contracts);
      return [{ _tag: 'Reset', reason: event.reason, offset: event.offset, contracts }];
    }
    if (this.#contracts === undefined) return this.#fail([{ path: '', expected: 'the event reset before all others' }]);
    this.#offset = event.offset;
    switch (event._tag) {
      case 'OffsetCheckpoint':
        return [event];
      case 'ContractsChanged':
        return [this.#change(event, this.#contracts)];
      case 'CaughtUp':
      case 'FellBehind':
        this.#isCaughtUp = event._tag === 'CaughtUp';
        return [];
      case 'Resumed':
        this.#isCaughtUp = event.isCaughtUp;
        return [];
    }
  }

  /** Replaces all contracts. Those that are the same stay the same objects. */
  #load(sent: readonly SentContract[]): readonly C[] {
    const before = this.#contracts;
    const contracts = new ContractList<C>();
    for (const each of sent) {
      const contract = this.#make(each);
      if (contract === undefined) continue;
      const former = before?.get(contract.contractId);
      contracts.set(contract.contractId, former && isSame(former, contract) ? former : contract);
    }
    this.#contracts = contracts;
    return contracts.snapshot.toArray();
  }

  #change({ offset, update, reason, ...sent }: SentChange, contracts: ContractList<C>): Items<C> {
    const changed = [...sent.added, ...sent.moved].flatMap((each) => this.#make(each) ?? []);
    const contractIds = [...sent.removed, ...changed.map(({ contractId }) => contractId)];
    const before = new Map(contractIds.map((contractId) => [contractId, contracts.get(contractId)]));
    for (const contractId of sent.removed) contracts.set(contractId, undefined);
    for (const contract of changed) contracts.set(contract.contractId, contract);
    const difference = differenceOf(before.keys(), before, contracts);
    const isOfOthers = !isDifference(difference) && sent.added.length + sent.removed.length + sent.moved.length > 0;
    // that the parties have changed is of every reader: earlier updates may be of one that is gone
    if (isOfOthers && reason !== 'selectionChanged') return { _tag: 'OffsetCheckpoint', offset, synchronizerTimes: [] };
    if (reason !== undefined) return { _tag: 'ContractsChanged', reason, offset, ...difference };
    if (update?._tag !== 'Transaction' && update?._tag !== 'Reassignment')
      return this.#fail([{ path: 'update', expected: 'a transaction, a reassignment or a reason' }]);
    const { updateId, synchronizerId, recordTime } = update;
    const on = synchronizerId === undefined ? {} : { synchronizerId };
    return { _tag: 'ContractsChanged', offset, updateId, ...on, recordTime, update, ...difference };
  }

  #make({ createdEvent, location, reassignmentCounter }: SentContract): C | undefined {
    return this.make(createdEvent, location, reassignmentCounter);
  }

  #fail(problems: readonly Problem[]): never {
    throw new DecodeError(this.server.url.pathname, problems);
  }
}

/** Whether two readings of a contract are equal in all that may differ. */
function isSame(one: AnyContract, other: AnyContract): boolean {
  const [witnesses, others] = [one.createdEvent.witnessParties, other.createdEvent.witnessParties];
  return (
    one.offset === other.offset &&
    witnesses.length === others.length &&
    witnesses.every((party, index) => party === others[index]) &&
    isSameContract(one, other)
  );
}

/**
 * The server sends events of another version than the client reads. Permanent: the page or the server must be updated. It is
 * not an error of a ledger, so it is not in the union `LedgerError`.
 *
 * @category Server-sent events
 */
export class WireVersionError extends TaggedError<'WireVersionError'> {
  override get summary(): string {
    return 'This page and its server are of different releases. Load the page again.';
  }

  constructor(
    /** The path of the request. */
    readonly path: string,
    /** The version of the events. */
    readonly version: number,
  ) {
    const older = version > wireVersion ? 'the page' : 'the server';
    super(
      'WireVersionError',
      `The server sends version ${version} of its events, and only ${wireVersion} can be read.`,
      {
        Path: path,
        Next: `update canton-rx in ${older}`,
      },
    );
  }
}
