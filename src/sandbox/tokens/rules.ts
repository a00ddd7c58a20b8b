import { AllocationFactory, TransferFactory } from '../../tokens/interfaces.js';
import { interfaceInstance, template } from '../templates/template.js';
import type { SandboxTemplate } from '../templates/TemplateBody.js';
import { allocate, allocated, requested } from './allocations.js';
import { fail, none, Rules, token } from './Token.js';
import { makeTransfer, offer, preapproval } from './transfers.js';

/** The factories of an admin. */
const rules = template(Rules, {
  signatories: ({ payload }) => [payload.admin],
  interfaces: [
    interfaceInstance(TransferFactory, {
      view: ({ payload }) => ({ admin: payload.admin, meta: none }),
      choices: {
        TransferFactory_Transfer: {
          consuming: false,
          controllers: (_contract, { transfer }) => [transfer.sender],
          exercise: ({ payload: { admin } }, argument, ledger) => {
            checkAdmin(admin, argument.expectedAdmin, argument.transfer.instrumentId.admin);
            return makeTransfer(argument, ledger);
          },
        },
      },
    }),
    interfaceInstance(AllocationFactory, {
      view: ({ payload }) => ({ admin: payload.admin, meta: none }),
      choices: {
        AllocationFactory_Allocate: {
          consuming: false,
          controllers: (_contract, { allocation }) => [allocation.transferLeg.sender],
          exercise: ({ payload: { admin } }, argument, ledger) => {
            checkAdmin(admin, argument.expectedAdmin, argument.allocation.transferLeg.instrumentId.admin);
            return allocate(argument, ledger);
          },
        },
      },
    }),
  ],
});

function checkAdmin(admin: string, ...others: readonly string[]): void {
  if (others.some((other) => other !== admin)) fail('the factory is of another admin');
}

/**
 * Templates of tokens by the interfaces of the Splice token standard V1, for the option `templates` of a sandbox: holdings,
 * transfers that wait for their receivers, preapprovals, allocations and requests for them. Factories, contexts and new holdings come from
 * {@link sandboxRegistry}.
 *
 * @category Sandbox
 */
export const tokenTemplates: readonly SandboxTemplate[] = [token, rules, preapproval, offer, allocated, requested];
