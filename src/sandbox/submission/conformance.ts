import type { Command } from '../../codecs/Command.js';
import { isRecord } from '../../codecs/internal/Codec.js';
import { RequestError, requestError } from '../errors.js';
import { packageOf } from '../ledger/Packages.js';
import type { Participant } from '../participant/Participant.js';
import { formatMicros } from '../wire/values.js';
import { creationsIn, type Effect, nodesOf } from './effects.js';
import { interpret, type PreparedSubmission } from './interpret.js';

/**
 * Rejects a prepared transaction that is not what its first node leads to, as its confirming participants do: they interpret
 * it again. So it has been authorized, whatever the client has made of its bytes.
 */
export function checkConformance(
  { effect, party, preparationTime }: PreparedSubmission,
  participant: Participant,
): void {
  const { ledger, models } = participant;
  const { packages, contracts } = ledger;
  const context = {
    actAs: [party],
    packages,
    models,
    preferred: [...nodesOf([effect])].map(({ template }) => packageOf(template.id)),
    time: formatMicros(preparationTime),
    findContract: (contractId: string) => contracts.get(contractId),
    findByKey: (hash: string) => contracts.withKey(hash),
  };
  try {
    const { effects } = interpret([commandOf(effect)], context);
    if (outline(effects) === outline([effect])) return;
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    throw requestError('INVALID_EXTERNAL_TRANSACTION', error.message);
  }
  throw requestError('INVALID_EXTERNAL_TRANSACTION', 'The transaction is not what its command leads to');
}

/** The command of which an effect is the result. */
function commandOf(effect: Effect): Command {
  const { id: templateId } = effect.template;
  if (effect.kind === 'create') return { CreateCommand: { templateId, createArguments: effect.createArgument } };
  if (effect.kind === 'fetch') throw requestError('INVALID_EXTERNAL_TRANSACTION', 'No command reads a contract');
  const { contractId, choice, choiceArgument, interfaceId } = effect;
  return { ExerciseCommand: { templateId: interfaceId ?? templateId, contractId, choice, choiceArgument } };
}

/** Effects as text. The ids of created contracts are their numbers, and fields and sets of parties are sorted. */
function outline(effects: readonly Effect[]): string {
  const numbers = new Map(creationsIn(effects).map(({ contractId }, index) => [contractId, `#${index}`]));
  const sets: readonly string[] = ['signatories', 'observers', 'actingParties'];
  return JSON.stringify(effects, (key, value: unknown) => {
    if (sets.includes(key) && Array.isArray(value)) return [...(value as readonly string[])].sort();
    if (typeof value === 'string') return numbers.get(value) ?? value;
    return isRecord(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value;
  });
}
