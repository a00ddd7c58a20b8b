import * as t from 'io-ts';
import type { PayloadOf } from '../../codecs/ContractType.js';
import { contractType } from '../../codecs/TemplateType.js';
import {
  type AllocateArgument,
  Allocation,
  type InstructionResult,
  AllocationRequest,
  type EndedResult,
} from '../../tokens/interfaces.js';
import { amount, specificationWith, legWith, settlementInfo } from '../../tokens/values.js';
import type { ChoiceBody } from '../templates/TemplateBody.js';
import { interfaceInstance, template } from '../templates/template.js';
import type { TemplateLedger } from '../templates/TemplateLedger.js';
import { checkContext, fail, isPast, none, spend, Token, tokenOf } from './Token.js';

/** A holding that is locked for one leg of a settlement. Admin and sender sign it. */
const Allocated = contractType(
  '#sandbox-tokens:Tokens:TokenAllocation',
  t.type({ allocation: specificationWith(amount), lockedCid: t.string }),
);
type Allocated = PayloadOf<typeof Allocated>;

/** A choice that ends an allocation: its holding becomes one of the receiver, or of the sender again. */
function ending(
  by: 'sender' | 'all',
  owner: 'sender' | 'receiver',
): ChoiceBody<Allocated, (typeof Allocation)['Allocation_Withdraw']> {
  return {
    controllers: ({ payload: { allocation } }) => {
      const { sender, receiver } = allocation.transferLeg;
      return by === 'sender' ? [sender] : [allocation.settlement.executor, sender, receiver];
    },
    exercise: ({ payload: { allocation, lockedCid } }, { extraArgs }, ledger) => {
      const { settlement, transferLeg } = allocation;
      checkContext(extraArgs, transferLeg.instrumentId.admin, ledger);
      const isExecuted = owner === 'receiver';
      if (isExecuted && isPast(settlement.settleBefore, ledger)) fail('the time to settle is over');
      ledger.archive(lockedCid);
      const created = ledger.create(Token, tokenOf(transferLeg[owner], transferLeg.instrumentId, transferLeg.amount));
      return isExecuted
        ? { senderHoldingCids: [], receiverHoldingCids: [created], meta: none }
        : { senderHoldingCids: [created], meta: none };
    },
  };
}

export const allocated = template(Allocated, {
  signatories: ({ payload: { allocation } }) => [
    allocation.transferLeg.instrumentId.admin,
    allocation.transferLeg.sender,
  ],
  observers: ({ payload: { allocation } }) => [allocation.settlement.executor, allocation.transferLeg.receiver],
  interfaces: [
    interfaceInstance(Allocation, {
      view: ({ payload: { allocation, lockedCid } }) => ({ allocation, holdingCids: [lockedCid], meta: none }),
      choices: {
        Allocation_ExecuteTransfer: ending('all', 'receiver'),
        Allocation_Cancel: ending('all', 'sender'),
        Allocation_Withdraw: ending('sender', 'sender'),
      },
    }),
  ],
});

/** Locks holdings for a leg of a settlement. */
export function allocate(argument: AllocateArgument, ledger: TemplateLedger): InstructionResult {
  const { allocation, inputHoldingCids: inputs, requestedAt, extraArgs } = argument;
  const { settlement, transferLeg } = allocation;
  const { sender: owner, instrumentId: instrument, amount: size } = transferLeg;
  checkContext(extraArgs, instrument.admin, ledger);
  if (!isPast(requestedAt, ledger)) fail('requestedAt must be in the past');
  if (isPast(settlement.allocateBefore, ledger)) fail('allocateBefore must be in the future');
  const senderChangeCids = spend({ owner, instrument, size, inputs }, ledger);
  const lock = {
    holders: [instrument.admin],
    expiresAt: settlement.settleBefore,
    expiresAfter: null,
    context: 'allocation',
  };
  const locked = tokenOf(owner, instrument, size, lock);
  const lockedCid = ledger.create(Token, locked);
  const leg = { ...transferLeg, amount: locked.amount };
  const allocationCid = ledger.create(Allocated, { allocation: { ...allocation, transferLeg: leg }, lockedCid });
  const output = { tag: 'AllocationInstructionResult_Completed', value: { allocationCid } };
  return { output, senderChangeCids, meta: none };
}

/**
 * A request of an app for allocations, which its executor creates for a test of a wallet. It is signed by the executor, and
 * visible to the senders of its legs.
 *
 * @category Sandbox
 */
export const TokenAllocationRequest = contractType(
  '#sandbox-tokens:Tokens:TokenAllocationRequest',
  t.type({
    /** The settlement for which the allocations are requested. */
    settlement: settlementInfo,
    /** The transfers of the settlement, by their IDs. */
    transferLegs: t.record(t.string, legWith(amount)),
  }),
);
type Request = PayloadOf<typeof TokenAllocationRequest>;

const sendersOf = ({ payload }: { readonly payload: Request }): readonly string[] => [
  ...new Set(Object.values(payload.transferLegs).map(({ sender }) => sender)),
];

const ended = (): EndedResult => ({ meta: none });

export const requested = template(TokenAllocationRequest, {
  signatories: ({ payload }) => [payload.settlement.executor],
  observers: sendersOf,
  ensure: (contract) => sendersOf(contract).length > 0,
  interfaces: [
    interfaceInstance(AllocationRequest, {
      view: ({ payload }) => ({ ...payload, meta: none }),
      choices: {
        AllocationRequest_Reject: {
          controllers: (_contract, { actor }) => [actor],
          exercise: (contract, { actor }) => {
            if (!sendersOf(contract).includes(actor)) fail('only a sender may reject the request');
            return ended();
          },
        },
        AllocationRequest_Withdraw: { controllers: ({ payload }) => [payload.settlement.executor], exercise: ended },
      },
    }),
  ],
});
