import * as t from 'io-ts';
import { interfaceType, type InterfaceType } from '../codecs/TemplateType.js';
import { optional } from '../codecs/optional.js';
import type { Amount } from './decimals.js';
import type { TokenAmount } from './totals.js';
import {
  type AllocationSpecification,
  amount,
  type ExtraArgs,
  extraArgs,
  type HoldingLock,
  ids,
  instrumentId,
  legWith,
  lock,
  metadata,
  party,
  type SettlementInfo,
  settlementInfo,
  specificationWith,
  type TokenMetadata,
  type TokenTransfer,
  type TransferLeg,
  transferWith,
} from './values.js';

/**
 * The view of a holding.
 *
 * @category Tokens
 */
export interface HoldingView extends TokenAmount {
  /** The owner. */
  readonly owner: string;
  /** How much it is. */
  readonly amount: Amount;
  /** The lock, or `null`. */
  readonly lock: HoldingLock | null;
  /** Metadata. */
  readonly meta: TokenMetadata;
}

/**
 * The view of a transfer that is not completed yet.
 *
 * @category Tokens
 */
export interface TransferInstructionView {
  /** The first of the instructions for the same transfer, or `null` if this is it. */
  readonly originalInstructionCid: string | null;
  /** The transfer. */
  readonly transfer: TokenTransfer<Amount>;
  /** What it waits for. */
  readonly status: {
    /** `TransferPendingReceiverAcceptance` or `TransferPendingInternalWorkflow`. */
    readonly tag: string;
    /** The fields of the variant. */
    readonly value: unknown;
  };
  /** Metadata. */
  readonly meta: TokenMetadata;
}

/**
 * The view of a factory.
 *
 * @category Tokens
 */
export interface FactoryView {
  /** The party that administers its instruments. */
  readonly admin: string;
  /** Metadata. */
  readonly meta: TokenMetadata;
}

/**
 * The view of an allocation.
 *
 * @category Tokens
 */
export interface AllocationView {
  /** What is allocated. */
  readonly allocation: AllocationSpecification<Amount>;
  /** The holdings that are locked for it. */
  readonly holdingCids: readonly string[];
  /** Metadata. */
  readonly meta: TokenMetadata;
}

/**
 * The view of a request of an app to allocate what a settlement needs.
 *
 * @category Tokens
 */
export interface AllocationRequestView {
  /** The settlement. */
  readonly settlement: SettlementInfo;
  /** The legs by their names. Each sender allocates its own: see `TokenCommands.allocate`. */
  readonly transferLegs: Readonly<Record<string, TransferLeg<Amount>>>;
  /** Metadata. */
  readonly meta: TokenMetadata;
}

/**
 * The result of a choice that makes a transfer or an allocation, or continues it.
 *
 * @category Tokens
 */
export interface InstructionResult {
  /** The outcome: the tag ends with `_Completed`, `_Pending` or `_Failed`; the value has the ids of the contracts. */
  readonly output: {
    /** The variant, such as `TransferInstructionResult_Pending`. */
    readonly tag: string;
    /** Its fields. */
    readonly value: Readonly<Record<string, unknown>>;
  };
  /** The holdings of the sender that are new. */
  readonly senderChangeCids: readonly string[];
  /** Metadata. */
  readonly meta: TokenMetadata;
}

/**
 * The result of a choice that ends an allocation.
 *
 * @category Tokens
 */
export interface AllocationResult {
  /** The holdings of the sender that are new. */
  readonly senderHoldingCids: readonly string[];
  /** The holdings of the receiver that are new, after an execution. */
  readonly receiverHoldingCids?: readonly string[];
  /** Metadata. */
  readonly meta: TokenMetadata;
}

/**
 * The codecs of a choice of the token standard.
 *
 * @category Tokens
 */
export interface TokenChoice<A, R> {
  /** That of the argument. */
  readonly argument: t.Type<A, unknown>;
  /** That of the result. */
  readonly result: t.Type<R, unknown>;
}

/**
 * The argument of a choice that only needs the context of the registry.
 *
 * @category Tokens
 */
export interface WithExtraArgs {
  /** The context of the registry, and metadata. */
  readonly extraArgs: ExtraArgs;
}

/**
 * The argument of `TransferFactory_Transfer`.
 *
 * @category Tokens
 */
export interface TransferArgument extends WithExtraArgs {
  /** The admin of the instrument, from a source that you trust. The choice fails if the factory is that of another party. */
  readonly expectedAdmin: string;
  /** The transfer. */
  readonly transfer: TokenTransfer;
}

/**
 * The argument of `AllocationFactory_Allocate`.
 *
 * @category Tokens
 */
export interface AllocateArgument extends WithExtraArgs {
  /** The admin of the instrument, from a source that you trust. */
  readonly expectedAdmin: string;
  /** What to allocate. */
  readonly allocation: AllocationSpecification;
  /** When it was requested: in the past. */
  readonly requestedAt: string;
  /** The holdings that pay for it. */
  readonly inputHoldingCids: readonly string[];
}

/**
 * The argument of `AllocationRequest_Reject`.
 *
 * @category Tokens
 */
export interface RejectRequestArgument extends WithExtraArgs {
  /** The sender that rejects the request. */
  readonly actor: string;
}

/**
 * The result of a choice that only ends its contract.
 *
 * @category Tokens
 */
export interface EndedResult {
  /** Metadata. */
  readonly meta: TokenMetadata;
}

const withExtraArgs: t.Type<WithExtraArgs, unknown> = t.type({ extraArgs });
const tagged = t.type({ tag: t.string, value: t.record(t.string, t.unknown) });
const instructionResult: t.Type<InstructionResult, unknown> = t.type({
  output: tagged,
  senderChangeCids: ids,
  meta: metadata,
});
const allocationResult: t.Type<AllocationResult, unknown> = t.intersection([
  t.type({ senderHoldingCids: ids, meta: metadata }),
  t.partial({ receiverHoldingCids: ids }),
]);
const factoryView: t.Type<FactoryView, unknown> = t.type({ admin: party, meta: metadata });
const instruction: TokenChoice<WithExtraArgs, InstructionResult> = {
  argument: withExtraArgs,
  result: instructionResult,
};
const endedResult: t.Type<EndedResult, unknown> = t.type({ meta: metadata });
const settled: TokenChoice<WithExtraArgs, AllocationResult> = { argument: withExtraArgs, result: allocationResult };

/**
 * The interface of holdings: an amount of an instrument that a party owns.
 *
 * @category Tokens
 */
export const Holding: InterfaceType<HoldingView> = interfaceType(
  '#splice-api-token-holding-v1:Splice.Api.Token.HoldingV1:Holding',
  t.type({ owner: party, instrumentId, amount, lock: optional(lock), meta: metadata }),
);

/**
 * The interface of factories of transfers. A registry says which contract to use: see {@link tokenCommands}.
 *
 * @category Tokens
 */
export const TransferFactory: InterfaceType<
  FactoryView,
  string,
  Readonly<Record<'TransferFactory_Transfer', TokenChoice<TransferArgument, InstructionResult>>>
> = interfaceType(
  '#splice-api-token-transfer-instruction-v1:Splice.Api.Token.TransferInstructionV1:TransferFactory',
  factoryView,
  {
    choices: {
      TransferFactory_Transfer: {
        argument: t.type({ expectedAdmin: party, transfer: transferWith(t.string), extraArgs }),
        result: instructionResult,
      },
    },
  },
);

/**
 * The interface of transfers that wait, such as for the receiver.
 *
 * @category Tokens
 */
export const TransferInstruction: InterfaceType<
  TransferInstructionView,
  string,
  Readonly<
    Record<
      'TransferInstruction_Accept' | 'TransferInstruction_Reject' | 'TransferInstruction_Withdraw',
      TokenChoice<WithExtraArgs, InstructionResult>
    >
  >
> = interfaceType(
  '#splice-api-token-transfer-instruction-v1:Splice.Api.Token.TransferInstructionV1:TransferInstruction',
  t.type({
    originalInstructionCid: optional(t.string),
    transfer: transferWith(amount),
    status: t.type({ tag: t.string, value: t.unknown }),
    meta: metadata,
  }),
  {
    choices: {
      TransferInstruction_Accept: instruction,
      TransferInstruction_Reject: instruction,
      TransferInstruction_Withdraw: instruction,
    },
  },
);

/**
 * The interface of factories of allocations.
 *
 * @category Tokens
 */
export const AllocationFactory: InterfaceType<
  FactoryView,
  string,
  Readonly<Record<'AllocationFactory_Allocate', TokenChoice<AllocateArgument, InstructionResult>>>
> = interfaceType(
  '#splice-api-token-allocation-instruction-v1:Splice.Api.Token.AllocationInstructionV1:AllocationFactory',
  factoryView,
  {
    choices: {
      AllocationFactory_Allocate: {
        argument: t.type({
          expectedAdmin: party,
          allocation: specificationWith(t.string),
          requestedAt: t.string,
          inputHoldingCids: ids,
          extraArgs,
        }),
        result: instructionResult,
      },
    },
  },
);

/**
 * The interface of allocations: holdings that are locked for one leg of a settlement.
 *
 * @category Tokens
 */
export const Allocation: InterfaceType<
  AllocationView,
  string,
  Readonly<
    Record<
      'Allocation_ExecuteTransfer' | 'Allocation_Cancel' | 'Allocation_Withdraw',
      TokenChoice<WithExtraArgs, AllocationResult>
    >
  >
> = interfaceType(
  '#splice-api-token-allocation-v1:Splice.Api.Token.AllocationV1:Allocation',
  t.type({ allocation: specificationWith(amount), holdingCids: ids, meta: metadata }),
  { choices: { Allocation_ExecuteTransfer: settled, Allocation_Cancel: settled, Allocation_Withdraw: settled } },
);

/**
 * The interface of requests for allocations: an app wants the senders of a settlement to allocate their legs. They allocate
 * by the factories of their instruments, or reject the request; the executor withdraws it. Its choices need no context of a registry.
 *
 * @category Tokens
 */
export const AllocationRequest: InterfaceType<
  AllocationRequestView,
  string,
  {
    /** A sender rejects the request. */
    readonly AllocationRequest_Reject: TokenChoice<RejectRequestArgument, EndedResult>;
    /** The executor withdraws it. */
    readonly AllocationRequest_Withdraw: TokenChoice<WithExtraArgs, EndedResult>;
  }
> = interfaceType(
  '#splice-api-token-allocation-request-v1:Splice.Api.Token.AllocationRequestV1:AllocationRequest',
  t.type({ settlement: settlementInfo, transferLegs: t.record(t.string, legWith(amount)), meta: metadata }),
  {
    choices: {
      AllocationRequest_Reject: { argument: t.type({ actor: party, extraArgs }), result: endedResult },
      AllocationRequest_Withdraw: { argument: withExtraArgs, result: endedResult },
    },
  },
);
