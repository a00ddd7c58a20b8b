import * as t from 'io-ts';
import { optional } from '../codecs/optional.js';
import type { Amount } from './decimals.js';
import type { InstrumentId, TokenAmount } from './totals.js';

/**
 * Information for other programs, by keys with the DNS name of the program that defines them.
 *
 * @category Tokens
 */
export interface TokenMetadata {
  /** The values, by key. */
  readonly values: Readonly<Record<string, string>>;
}

/**
 * What a choice of the token standard takes in addition: the context that the registry gives, and metadata.
 *
 * @category Tokens
 */
export interface ExtraArgs {
  /** The context of the registry. Its values are `AnyValue` as Daml JSON, such as `{ tag: 'AV_ContractId', value: '00ab' }`. */
  readonly context: {
    /** The values, by key. */
    readonly values: Readonly<Record<string, unknown>>;
  };
  /** The metadata of the caller. */
  readonly meta: TokenMetadata;
}

/**
 * The lock of a holding.
 *
 * @category Tokens
 */
export interface HoldingLock {
  /** The parties that have locked it. */
  readonly holders: readonly string[];
  /** When the lock ends, or `null`. */
  readonly expiresAt: string | null;
  /** After how long the lock ends, or `null`. */
  readonly expiresAfter: {
    /** The time, as text. */
    readonly microseconds: string;
  } | null;
  /** What the lock is for, or `null`. */
  readonly context: string | null;
}

/**
 * A transfer of an amount from one party to another.
 *
 * @category Tokens
 */
export interface TokenTransfer<A extends string = string> extends TokenAmount {
  /** The party that transfers. */
  readonly sender: string;
  /** The party that receives. With the sender as receiver, a transfer merges and splits holdings. */
  readonly receiver: string;
  /** How much. */
  readonly amount: A;
  /** When the transfer was requested: in the past. */
  readonly requestedAt: string;
  /** Until when it may be executed: in the future. */
  readonly executeBefore: string;
  /** The holdings that pay for it. It archives all of them, and returns the change. */
  readonly inputHoldingCids: readonly string[];
  /** Metadata. */
  readonly meta: TokenMetadata;
}

/**
 * A settlement that an app wants to execute.
 *
 * @category Tokens
 */
export interface SettlementInfo {
  /** The party that executes it. */
  readonly executor: string;
  /** What the app calls it. */
  readonly settlementRef: {
    /** Its name. */
    readonly id: string;
    /** A contract that stands for it, or `null`. */
    readonly cid: string | null;
  };
  /** When it was requested. */
  readonly requestedAt: string;
  /** Until when senders may allocate. */
  readonly allocateBefore: string;
  /** Until when it may be executed. */
  readonly settleBefore: string;
  /** Metadata. */
  readonly meta: TokenMetadata;
}

/**
 * One transfer of a settlement.
 *
 * @category Tokens
 */
export interface TransferLeg<A extends string = string> extends TokenAmount {
  /** The party that transfers. */
  readonly sender: string;
  /** The party that receives. */
  readonly receiver: string;
  /** How much. */
  readonly amount: A;
  /** Metadata. */
  readonly meta: TokenMetadata;
}

/**
 * An allocation that a sender makes for one leg of a settlement.
 *
 * @category Tokens
 */
export interface AllocationSpecification<A extends string = string> {
  /** The settlement. */
  readonly settlement: SettlementInfo;
  /** The name of the leg in the settlement. */
  readonly transferLegId: string;
  /** The leg. */
  readonly transferLeg: TransferLeg<A>;
}

/** The amount in a view. */
export const amount = t.string as unknown as t.Type<Amount, unknown>;

export const party = t.string;
const time = t.string;
export const ids = t.readonlyArray(t.string);

export const instrumentId: t.Type<InstrumentId, unknown> = t.type({ admin: party, id: t.string });
export const metadata: t.Type<TokenMetadata, unknown> = t.type({ values: t.record(t.string, t.string) });
export const extraArgs: t.Type<ExtraArgs, unknown> = t.type({
  context: t.type({ values: t.record(t.string, t.unknown) }),
  meta: metadata,
});
export const lock: t.Type<HoldingLock, unknown> = t.type({
  holders: ids,
  expiresAt: optional(time),
  expiresAfter: optional(t.type({ microseconds: t.string })),
  context: optional(t.string),
});

export const transferWith = <A extends string>(codec: t.Type<A, unknown>): t.Type<TokenTransfer<A>, unknown> =>
  t.type({
    sender: party,
    receiver: party,
    amount: codec,
    instrumentId,
    requestedAt: time,
    executeBefore: time,
    inputHoldingCids: ids,
    meta: metadata,
  });

export const settlementInfo: t.Type<SettlementInfo, unknown> = t.type({
  executor: party,
  settlementRef: t.type({ id: t.string, cid: optional(t.string) }),
  requestedAt: time,
  allocateBefore: time,
  settleBefore: time,
  meta: metadata,
});

export const legWith = <A extends string>(codec: t.Type<A, unknown>): t.Type<TransferLeg<A>, unknown> =>
  t.type({ sender: party, receiver: party, amount: codec, instrumentId, meta: metadata });

export const specificationWith = <A extends string>(
  codec: t.Type<A, unknown>,
): t.Type<AllocationSpecification<A>, unknown> =>
  t.type({ settlement: settlementInfo, transferLegId: t.string, transferLeg: legWith(codec) });
