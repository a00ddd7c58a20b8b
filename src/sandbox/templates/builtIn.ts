import { isRecord } from '../../codecs/internal/Codec.js';
import { findTemplateType } from '../prepared/types.js';
import { stakeholdersOf, type TemplateRef } from '../wire/WireUpdate.js';
import type { ChoiceModel, TemplateModel } from './TemplateModel.js';

/**
 * How the contracts of templates behave that are not defined: those of the sandbox have the party of their field `owner`
 * or `seller` as their signatory, and those with an owner can be touched and transferred. All parties that authorize the
 * creation of a contract of another template are its signatories.
 */
export function builtInModel(template: TemplateRef): TemplateModel {
  const { fields, observers = [] } = findTemplateType(template);
  const signatories = ['owner', 'seller'].filter((label) => fields !== undefined && label in fields);
  const choices: Readonly<Record<string, ChoiceModel>> =
    fields !== undefined && 'owner' in fields ? { Touch: touch, Transfer: transfer } : {};
  return {
    ...(fields && { fields }),
    check: () => undefined,
    describe: (createArgument, authority) => {
      const partyAt = (label: string): readonly string[] => {
        const value = isRecord(createArgument) ? createArgument[label] : undefined;
        return typeof value === 'string' ? [value] : [];
      };
      const named = signatories.flatMap(partyAt);
      return {
        signatories: named.length === 0 ? authority : named,
        observers: observers.flatMap(partyAt),
        isValid: true,
      };
    },
    interfaces: [],
    findChoice: (name) => (Object.hasOwn(choices, name) ? choices[name] : undefined),
  };
}

/** Any stakeholder may exercise the choice. */
const anyStakeholder: ChoiceModel['controllers'] = (contract, _argument, authority) => {
  const acting = stakeholdersOf(contract).filter((party) => authority.includes(party));
  return acting.length === 0 ? contract.signatories : acting;
};

const touch: ChoiceModel = {
  isConsuming: false,
  fields: {},
  check: () => undefined,
  controllers: anyStakeholder,
  exercise: () => '42',
};

/** Replaces a contract by one with another owner as its observer. The signatories stay, because they have authorized it. */
const transfer: ChoiceModel = {
  isConsuming: true,
  fields: { newOwner: 'party' },
  check: () => undefined,
  controllers: anyStakeholder,
  exercise: ({ template, createArgument, signatories }, choiceArgument, ledger) => {
    const newOwner = isRecord(choiceArgument) ? choiceArgument['newOwner'] : undefined;
    const successor: unknown = { ...Object(createArgument), owner: newOwner };
    const observers = typeof newOwner === 'string' ? [newOwner] : [];
    return ledger.createFor(template, successor, { signatories, observers });
  },
};
