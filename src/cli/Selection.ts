import * as t from 'io-ts';
import { identity, type MonoTypeOperatorFunction, type Observable, pipe } from 'rxjs';
import type { ContractQuery } from '../contracts/index.js';
import {
  acsDelta,
  contractType,
  type ContractType,
  ledgerEffects,
  ofVariant,
  onSynchronizer,
  type Update,
  type UpdateFormat,
} from '../index.js';
import { readOneOf, UsageError, type Values } from './arguments.js';

/** Which contracts a command is about. */
export interface Names {
  readonly parties: readonly string[] | 'any';
  readonly templates: readonly string[];
}

/** The options of every command that selects contracts. */
export const nameOptions = {
  party: { type: 'string', multiple: true },
  template: { type: 'string', multiple: true },
} as const;

/** The parties and templates of the arguments; without parties, those of the context. Throws a `UsageError`. */
export const readNames = (values: Values<typeof nameOptions>, parties?: readonly string[]): Names => ({
  parties: readParties(values.party ?? parties),
  templates: readTemplates(values.template),
});

const partyId = /^[\w: -]{1,255}$/;

/** The parties of `--party`, or any party without it. Throws a `UsageError`. */
export function readParties(texts: readonly string[] = []): readonly string[] | 'any' {
  const invalid = texts.find((text) => !partyId.test(text));
  if (invalid !== undefined) throw new UsageError(`--party must be a party id, hint::fingerprint, got '${invalid}'`);
  return texts.length > 0 ? texts : 'any';
}

/** A package, the path of a module and the path of an entity. */
const templateId = /^(?:#[\w-]{1,255}|[\w -]{1,64})(?::[A-Za-z$_][\w$]*(?:\.[A-Za-z$_][\w$]*)*){2}$/;

function readTemplates(texts: readonly string[] = []): readonly string[] {
  for (const text of texts) {
    if (!templateId.test(text))
      throw new UsageError(`--template must be a template, '#package-name:Module:Entity', got '${text}'`);
    if (!/^(?:#|[0-9a-f]{64}:)/.test(text))
      throw new UsageError(`--template ${text} lacks the #: did you mean '#${text}'?`);
  }
  return texts;
}

/** The contracts of a selection, as queries have them. The types have the names of `--template`. */
export function queryOf({ parties, templates }: Names): ContractQuery {
  const types = templates.map((id): readonly [string, ContractType] => [id, contractType(id, t.unknown)]);
  return { parties, ...(types.length > 0 && { types: Object.fromEntries(types) }) };
}

/** Which updates to read, and which of them to keep. */
export interface Selection extends Names {
  /** The format of the request. */
  readonly format: UpdateFormat;
  /** Keeps only these variants of what the ledger sends; empty for all. */
  readonly variants: readonly Update['_tag'][];
  /** Keeps only updates of these synchronizers; empty for all. */
  readonly synchronizers: readonly string[];
}

/** The options of every command that reads updates. */
export const selectionOptions = {
  ...nameOptions,
  effects: { type: 'boolean' },
  variant: { type: 'string', multiple: true },
  synchronizer: { type: 'string', multiple: true },
} as const;

const variants: readonly Update['_tag'][] = [
  'Transaction',
  'Reassignment',
  'TopologyTransaction',
  'OffsetCheckpoint',
  'UnknownUpdate',
];

/** The updates that the arguments select. Throws a `UsageError`. */
export function readSelection(values: Values<typeof selectionOptions>, parties?: readonly string[]): Selection {
  const names = readNames(values, parties);
  const format = values.effects === true ? ledgerEffects : acsDelta;
  return {
    ...names,
    format: format(names),
    variants: (values.variant ?? []).map((text) => readOneOf('variant', text, variants)),
    synchronizers: values.synchronizer ?? [],
  };
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
