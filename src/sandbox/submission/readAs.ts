import { isRecord } from '../../codecs/internal/Codec.js';
import { type RequestError, requestError } from '../errors.js';
import type { ModelContract, TemplateModel } from '../templates/TemplateModel.js';
import type { TemplateRef } from '../wire/WireUpdate.js';
import { preconditionViolated } from './interpretationErrors.js';

/**
 * Reads a contract as a version of its template, as a participant upgrades and downgrades contracts: with the fields of that
 * version. The version must agree with the stakeholders of the contract, and accept its arguments.
 */
export function readAs(
  contract: ModelContract,
  template: TemplateRef,
  { laterFields, describe }: TemplateModel,
): ModelContract {
  if (template.id === contract.template.id) return contract;
  // nothing is known of the versions of a template that is not defined
  if (laterFields === undefined) return { ...contract, template };
  const createArgument = withoutFields(laterFields, contract, template);
  const { isValid, signatories, observers } = describe(createArgument, contract.signatories);
  if (!isSame(signatories, contract.signatories)) throw notUpgradable('signatories', contract, template);
  // a signatory does not count as an observer
  const others = (parties: readonly string[]) => parties.filter((party) => !signatories.includes(party));
  if (!isSame(others(observers), others(contract.observers))) throw notUpgradable('observers', contract, template);
  if (!isValid) throw preconditionViolated(template.id);
  return { ...contract, template, createArgument };
}

/** The arguments without the fields of later versions, which must be empty. */
function withoutFields(laterFields: readonly string[], contract: ModelContract, template: TemplateRef): unknown {
  const { createArgument } = contract;
  if (laterFields.length === 0 || !isRecord(createArgument)) return createArgument;
  const lost = laterFields.find((name) => (createArgument[name] ?? null) !== null);
  if (lost === undefined)
    return Object.fromEntries(Object.entries(createArgument).filter(([name]) => !laterFields.includes(name)));
  const reason = `An optional contract field ("${lost}") with a value of Some may not be dropped during downgrading.`;
  throw upgradeError(
    'TRANSLATION_FAILED',
    `Translation of contract ${contract.contractId} to a value of type ${entityOf(template)} fails. Reason: ${reason}`,
    contract,
    template,
  );
}

const notUpgradable = (what: string, contract: ModelContract, template: TemplateRef): RequestError =>
  upgradeError(
    'VALIDATION_FAILED',
    `Validation fails when trying to upgrade the contract ${contract.contractId} from ${contract.template.id} to ${template.id}: ${what} mismatch`,
    contract,
    template,
  );

const upgradeError = (kind: string, reason: string, { contractId, template: source }: ModelContract, to: TemplateRef) =>
  requestError(`INTERPRETATION_UPGRADE_ERROR_${kind}`, `Interpretation error: Error: ${reason}`, {
    resources: [
      ['ErrorResource(CONTRACT_ID)', contractId],
      ['ErrorResource(TEMPLATE_ID)', source.id],
      ['ErrorResource(TEMPLATE_ID)', to.id],
    ],
  });

const entityOf = ({ id }: TemplateRef): string => id.slice(id.indexOf(':') + 1);

const isSame = (some: readonly string[], others: readonly string[]): boolean =>
  some.length === others.length && some.every((party) => others.includes(party));
