import type * as t from 'io-ts';
import { CreatedEvent } from '../codecs/Event.js';
import { isRecord } from '../codecs/internal/Codec.js';
import { flag, list, oneOfStrings, optional, scalar, tag, text } from '../codecs/internal/field.js';
import { message } from '../codecs/internal/message.js';
import { OffsetCheckpoint } from '../codecs/OffsetCheckpoint.js';
import { Int64, Offset } from '../codecs/scalars.js';
import { Update } from '../codecs/Update.js';
import type { AnyContract, ContractLocation } from '../contracts/Contract.js';
import type { ContractChange, ReconcileReason, Reset } from '../contracts/ContractChange.js';

/** The version of the events. A client refuses another one. */
export const wireVersion = 1;

/** A contract as it is sent. The reader decodes the payload, by its own types. */
export interface SentContract {
  readonly createdEvent: CreatedEvent;
  readonly location: ContractLocation;
  readonly reassignmentCounter: Int64;
}

/** All contracts. */
interface SentReset {
  readonly _tag: 'Reset';
  readonly version: Int64;
  readonly reason: Reset['reason'];
  readonly offset: Offset;
  /** Whether they are the contracts at the last known ledger end. */
  readonly isCaughtUp: boolean;
  readonly contracts: readonly SentContract[];
}

/** A change of contracts, by an update or for another reason. */
export interface SentChange {
  readonly _tag: 'ContractsChanged';
  readonly offset: Offset;
  readonly update?: Update;
  readonly reason?: ReconcileReason;
  readonly added: readonly SentContract[];
  /** The IDs of the contracts that were removed. */
  readonly removed: readonly string[];
  /** Contracts with their new location. */
  readonly moved: readonly SentContract[];
}

/** A mark without contracts. `Resumed` follows the last event that a connection had missed. */
interface SentMark<T extends string> {
  readonly _tag: T;
  readonly offset: Offset;
}

/** The view of the server has failed. The stream ends. */
interface SentFailure {
  readonly _tag: 'Failed';
  /** The name of the error. */
  readonly error: string;
}

/** An event of the stream, a union by `_tag`. */
export type ContractsEvent =
  | SentReset
  | SentChange
  | OffsetCheckpoint
  | SentMark<'CaughtUp'>
  | SentMark<'FellBehind'>
  | (SentMark<'Resumed'> & { readonly isCaughtUp: boolean })
  | SentFailure;

const isLocation = (u: unknown): u is ContractLocation => {
  if (!isRecord(u)) return false;
  const { synchronizerId, inFlight } = u;
  return isRecord(inFlight)
    ? typeof inFlight['source'] === 'string' && typeof inFlight['target'] === 'string'
    : typeof synchronizerId === 'string';
};

const SentContract = /* @__PURE__ */ message<SentContract>('SentContract', {
  createdEvent: CreatedEvent,
  location: /* @__PURE__ */ scalar('ContractLocation', isLocation, 'a location of a contract'),
  reassignmentCounter: Int64,
});

const contracts = /* @__PURE__ */ list(SentContract);

const markFields = { offset: Offset };

/** The events by their names on the wire. */
const codecs: Readonly<Record<string, t.Mixed>> = {
  reset: /* @__PURE__ */ message<SentReset>('SentReset', {
    _tag: /* @__PURE__ */ tag('Reset'),
    version: Int64,
    reason: /* @__PURE__ */ oneOfStrings<Reset['reason']>(
      'ResetReason',
      'start',
      'pruned',
      'ledgerReset',
      'packageFound',
    ),
    offset: Offset,
    isCaughtUp: flag,
    contracts,
  }),
  changed: /* @__PURE__ */ message<SentChange>('SentChange', {
    _tag: /* @__PURE__ */ tag('ContractsChanged'),
    offset: Offset,
    update: /* @__PURE__ */ optional(Update),
    reason: /* @__PURE__ */ optional(
      /* @__PURE__ */ oneOfStrings<ReconcileReason>('ReconcileReason', 'packageFound', 'appeared', 'selectionChanged'),
    ),
    added: contracts,
    removed: /* @__PURE__ */ list(text),
    moved: contracts,
  }),
  checkpoint: OffsetCheckpoint,
  caughtUp: /* @__PURE__ */ message('CaughtUp', { _tag: /* @__PURE__ */ tag('CaughtUp'), ...markFields }),
  fellBehind: /* @__PURE__ */ message('FellBehind', { _tag: /* @__PURE__ */ tag('FellBehind'), ...markFields }),
  resumed: /* @__PURE__ */ message('Resumed', {
    _tag: /* @__PURE__ */ tag('Resumed'),
    ...markFields,
    isCaughtUp: flag,
  }),
  failed: /* @__PURE__ */ message<SentFailure>('Failed', { _tag: /* @__PURE__ */ tag('Failed'), error: text }),
};

const names: Readonly<Record<ContractsEvent['_tag'], string>> = {
  Reset: 'reset',
  ContractsChanged: 'changed',
  OffsetCheckpoint: 'checkpoint',
  CaughtUp: 'caughtUp',
  FellBehind: 'fellBehind',
  Resumed: 'resumed',
  Failed: 'failed',
};

/** Returns the name and the JSON of an event. */
export function encodeEvent(event: ContractsEvent): { readonly event: string; readonly data: string } {
  const name = names[event._tag];
  return { event: name, data: JSON.stringify(codecs[name]?.encode(event)) };
}

/** Returns the codec of the events with a name; `undefined` for a name that this version does not know. */
export const codecOf = (name: string): t.Type<ContractsEvent, unknown> | undefined =>
  Object.hasOwn(codecs, name) ? codecs[name] : undefined;

/** Returns a change in the form in which it is sent. */
export function sentChange(change: Exclude<ContractChange, Reset>): ContractsEvent {
  if (change._tag !== 'ContractsChanged') return change;
  const { _tag, offset, added, removed, moved, reason, update } = change;
  return {
    ...{ _tag, offset },
    ...(reason !== undefined && { reason }),
    ...(update !== undefined && { update }),
    added: added.map(sentContract),
    removed: removed.map(({ contractId }) => contractId),
    moved: moved.map(({ contract }) => sentContract(contract)),
  };
}

/** Returns a contract in the form in which it is sent. */
export const sentContract = ({ createdEvent, location, reassignmentCounter }: AnyContract): SentContract => ({
  createdEvent,
  location,
  reassignmentCounter,
});
