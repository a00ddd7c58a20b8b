import { acsDelta } from '../../codecs/acsDelta.js';
import { ledgerEffects } from '../../codecs/ledgerEffects.js';
import { TemplateId } from '../../codecs/TemplateId.js';
import type { Update } from '../../codecs/Update.js';
import type { Values } from './parsed.js';
import { readMatching } from './readMatching.js';
import { readOneOf } from './readOneOf.js';
import { readParties } from './readParties.js';
import type { Selection } from './Selection.js';
import type { selectionOptions } from './selectionOptions.js';

const variants: readonly Update['_tag'][] = [
  'Transaction',
  'Reassignment',
  'TopologyTransaction',
  'OffsetCheckpoint',
  'UnknownUpdate',
];

/** The updates that the arguments ask for. Throws a `UsageError`. */
export function readSelection(values: Values<typeof selectionOptions>): Selection {
  const parties = readParties(values.party);
  const templates = readMatching('template', values.template, TemplateId, "a template, '#package-name:Module:Entity'");
  const chosen = (values.variant ?? []).map((text) => readOneOf('variant', text, variants));
  const format = values.effects === true ? ledgerEffects : acsDelta;
  return { format: format({ parties, templates }), variants: chosen, synchronizers: values.synchronizer ?? [] };
}
