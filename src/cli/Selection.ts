import { identity, type MonoTypeOperatorFunction, type Observable, pipe } from 'rxjs';
import { acsDelta, ledgerEffects } from '../codecs/formats.js';
import { Party, TemplateId } from '../codecs/scalars.js';
import type { Update } from '../codecs/Update.js';
import type { UpdateFormat } from '../codecs/UpdateFormat.js';
import { ofVariant } from '../operators/ofVariant.js';
import { onSynchronizer } from '../operators/onSynchronizer.js';
import { readOneOf, readValues, UsageError, type Values } from './arguments.js';

/** Which updates to read, and which of them to keep. */
export interface Selection {
  readonly parties: readonly Party[] | 'any';
  readonly templates: readonly TemplateId[];
  /** The format of the request. */
  readonly format: UpdateFormat;
  /** Keeps only these variants of what the ledger sends; empty for all. */
  readonly variants: readonly Update['_tag'][];
  /** Keeps only updates of these synchronizers; empty for all. */
  readonly synchronizers: readonly string[];
}

/** The options of every command that reads updates. */
export const selectionOptions = {
  party: { type: 'string', multiple: true },
  template: { type: 'string', multiple: true },
  effects: { type: 'boolean' },
  variant: { type: 'string', multiple: true },
  synchronizer: { type: 'string', multiple: true },
} as const;

/** The updates that the arguments select. Throws a `UsageError`. */
export function readSelection(values: Values<typeof selectionOptions>): Selection {
  const parties = readParties(values.party);
  const templates = readTemplates(values.template);
  const chosen = (values.variant ?? []).map((text) => readOneOf('variant', text, variants));
  const format = values.effects === true ? ledgerEffects : acsDelta;
  const synchronizers = values.synchronizer ?? [];
  return { parties, templates, format: format({ parties, templates }), variants: chosen, synchronizers };
}

const variants: readonly Update['_tag'][] = [
  'Transaction',
  'Reassignment',
  'TopologyTransaction',
  'OffsetCheckpoint',
  'UnknownUpdate',
];

/** The parties of `--party`, or any party without it. Throws a `UsageError`. */
export function readParties(texts: readonly string[] | undefined): readonly Party[] | 'any' {
  const parties = readValues('party', texts, Party, 'a party id, hint::fingerprint');
  return parties.length > 0 ? parties : 'any';
}

/** The templates of `--template`. Throws a `UsageError`. */
export function readTemplates(texts: readonly string[] | undefined): readonly TemplateId[] {
  const templates = readValues('template', texts, TemplateId, "a template, '#package-name:Module:Entity'");
  const named = templates.find((template) => !/^(?:#|[0-9a-f]{64}:)/.test(template));
  if (named !== undefined) throw new UsageError(`--template ${named} lacks the #: did you mean '#${named}'?`);
  return templates;
}

/** Passes the updates of a selection. */
export function select(selection: Pick<Selection, 'variants' | 'synchronizers'>): MonoTypeOperatorFunction<Update> {
  const [variant, ...variants] = selection.variants;
  const [synchronizer, ...synchronizers] = selection.synchronizers;
  return pipe(
    variant === undefined ? identity<Observable<Update>> : ofVariant(variant, ...variants),
    synchronizer === undefined ? identity : onSynchronizer(synchronizer, ...synchronizers),
  );
}
