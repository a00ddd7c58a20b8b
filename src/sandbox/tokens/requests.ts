import * as t from 'io-ts';
import type { PayloadOf } from '../../codecs/ContractType.js';
import { contractType } from '../../codecs/TemplateType.js';
import { AllocationRequest, type EndedResult } from '../../tokens/interfaces.js';
import { amount, legWith, settlementInfo } from '../../tokens/values.js';
import { interfaceInstance, template } from '../templates/template.js';
import { fail, none } from './Token.js';

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
