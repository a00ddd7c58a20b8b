import * as t from 'io-ts';
import type { PayloadOf } from '../../codecs/ContractType.js';
import { contractType } from '../../codecs/TemplateType.js';
import { type InstructionResult, type TransferArgument, TransferInstruction } from '../../tokens/interfaces.js';
import { amount, instrumentId, party, transferWith } from '../../tokens/values.js';
import type { ChoiceBody } from '../templates/TemplateBody.js';
import { interfaceInstance, template } from '../templates/template.js';
import type { TemplateLedger } from '../templates/TemplateLedger.js';
import { checkContext, contractIn, fail, isPast, none, preapprovalKey, spend, Token, tokenOf } from './Token.js';

/** The consent of a receiver to every transfer of the instruments of an admin. */
export const Preapproval = contractType(
  '#sandbox-tokens:Tokens:TransferPreapproval',
  t.type({ admin: party, receiver: party }),
  { choices: { Send: { argument: t.type({ sender: party, instrumentId, amount: t.string }), result: t.string } } },
);

export const preapproval = template(Preapproval, {
  signatories: ({ payload }) => [payload.admin, payload.receiver],
  choices: {
    Send: {
      consuming: false,
      controllers: ({ payload }, { sender }) => [payload.admin, sender],
      exercise: ({ payload }, { instrumentId: instrument, amount: size }, ledger) => {
        if (instrument.admin !== payload.admin) fail('the preapproval is for another admin');
        return ledger.create(Token, tokenOf(payload.receiver, instrument, size));
      },
    },
  },
});

/** A transfer that waits for its receiver, with the holding that is locked for it. Admin and sender sign it. */
const Offer = contractType(
  '#sandbox-tokens:Tokens:TransferOffer',
  t.type({ transfer: transferWith(amount), lockedCid: t.string }),
);
type Offer = PayloadOf<typeof Offer>;

/** A choice that ends an offer: its holding becomes one of a party. */
function ending(
  actor: 'sender' | 'receiver',
  owner: 'sender' | 'receiver',
): ChoiceBody<Offer, (typeof TransferInstruction)['TransferInstruction_Accept']> {
  return {
    controllers: ({ payload }) => [payload.transfer[actor]],
    exercise: ({ payload: { transfer, lockedCid } }, { extraArgs }, ledger) => {
      checkContext(extraArgs, transfer.instrumentId.admin, ledger);
      const isAccepted = owner === 'receiver';
      if (isAccepted && isPast(transfer.executeBefore, ledger)) fail('the time to accept the transfer is over');
      ledger.archive(lockedCid);
      const created = ledger.create(Token, tokenOf(transfer[owner], transfer.instrumentId, transfer.amount));
      return isAccepted ? completed([created], []) : result('Failed', {}, [created]);
    },
  };
}

export const offer = template(Offer, {
  signatories: ({ payload: { transfer } }) => [transfer.instrumentId.admin, transfer.sender],
  observers: ({ payload: { transfer } }) => [transfer.receiver],
  interfaces: [
    interfaceInstance(TransferInstruction, {
      view: ({ payload: { transfer } }) => ({
        originalInstructionCid: null,
        transfer,
        status: { tag: 'TransferPendingReceiverAcceptance', value: {} },
        meta: none,
      }),
      choices: {
        TransferInstruction_Accept: ending('receiver', 'receiver'),
        TransferInstruction_Reject: ending('receiver', 'sender'),
        TransferInstruction_Withdraw: ending('sender', 'sender'),
      },
    }),
  ],
});

/** Makes a transfer: at once to the sender itself, or with a preapproval; else as an offer. */
export function makeTransfer({ transfer, extraArgs }: TransferArgument, ledger: TemplateLedger): InstructionResult {
  const { sender, receiver, instrumentId: instrument, amount: size, inputHoldingCids: inputs } = transfer;
  const { requestedAt, executeBefore } = transfer;
  checkContext(extraArgs, instrument.admin, ledger);
  if (!isPast(requestedAt, ledger)) fail('requestedAt must be in the past');
  if (isPast(executeBefore, ledger)) fail('executeBefore must be in the future');
  const change = spend({ owner: sender, instrument, size, inputs }, ledger);
  if (sender === receiver) return completed([ledger.create(Token, tokenOf(receiver, instrument, size))], change);
  const preapprovedBy = contractIn(extraArgs, preapprovalKey);
  if (preapprovedBy !== undefined) {
    if (ledger.fetch(Preapproval, preapprovedBy).payload.receiver !== receiver)
      fail('the preapproval is of another receiver');
    const argument = { sender, instrumentId: instrument, amount: size };
    return completed([ledger.exercise(Preapproval, preapprovedBy, Preapproval.Send, argument)], change);
  }
  const lock = { holders: [instrument.admin], expiresAt: executeBefore, expiresAfter: null, context: 'transfer' };
  const locked = tokenOf(sender, instrument, size, lock);
  const lockedCid = ledger.create(Token, locked);
  const transferInstructionCid = ledger.create(Offer, { transfer: { ...transfer, amount: locked.amount }, lockedCid });
  return result('Pending', { transferInstructionCid }, change);
}

const completed = (receiverHoldingCids: readonly string[], change: readonly string[]): InstructionResult =>
  result('Completed', { receiverHoldingCids }, change);

const result = (
  variant: 'Completed' | 'Failed' | 'Pending',
  value: InstructionResult['output']['value'],
  senderChangeCids: readonly string[],
): InstructionResult => ({
  output: { tag: `TransferInstructionResult_${variant}`, value },
  senderChangeCids,
  meta: none,
});
