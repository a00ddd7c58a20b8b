import * as t from 'io-ts';
import { defer, identity, type MonoTypeOperatorFunction, type Observable, pipe, tap } from 'rxjs';
import type { ActiveContractsRequest } from '../contracts/index.js';
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
import type { CreatedEvent, LastUpdate } from '../index.js';
import { readOneOf, UsageError } from './arguments.js';
import type { nameOptions, selectionOptions, Values } from './options.js';
import type { Session } from './Session.js';
import { quoteArgument } from './shell.js';
import { type Output, withBackpressure } from './World.js';

/** Which contracts a command is about. */
export interface Names {
  readonly parties: readonly string[] | 'any';
  readonly templates: readonly string[];
}

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
      throw new UsageError(`--template ${text} lacks the #: did you mean ${quoteArgument(`#${text}`)}?`);
  }
  return texts;
}

/** The template of an event in the form that `--template` takes. */
export const templateOf = ({ packageName, templateId }: Pick<CreatedEvent, 'packageName' | 'templateId'>): string =>
  `#${packageName}${templateId.slice(templateId.indexOf(':'))}`;

/** The contracts of a selection, as queries have them. The types have the names of `--template`. */
export function queryOf({ parties, templates }: Names): ActiveContractsRequest {
  const types = templates.map((id): readonly [string, ContractType] => [id, contractType(id, t.unknown)]);
  return { parties, ...(types.length > 0 && { types: Object.fromEntries(types) }) };
}

/** Which updates to read, and which of them to keep. */
export interface Selection extends Names {
  /** Whether exercises are included. */
  readonly isWithEffects: boolean;
  /** Keeps only these variants of what the ledger sends; empty for all. */
  readonly variants: readonly Update['_tag'][];
  /** Keeps only updates of these synchronizers; empty for all. */
  readonly synchronizers: readonly string[];
}

/** The variants of an update, and their names in a row. */
export const variantNames: Readonly<Record<Update['_tag'], string>> = {
  Transaction: 'tx',
  Reassignment: 'reassign',
  TopologyTransaction: 'topology',
  OffsetCheckpoint: 'checkpoint',
  UnknownUpdate: '?',
};

export const variants = Object.keys(variantNames) as readonly Update['_tag'][];

/** The updates that the arguments select. Throws a `UsageError`. */
export function readSelection(values: Values<typeof selectionOptions>, parties?: readonly string[]): Selection {
  const names = readNames(values, parties);
  return {
    ...names,
    isWithEffects: values.effects ?? false,
    variants: (values.variant ?? []).map((text) => readOneOf('variant', text, variants)),
    synchronizers: values.synchronizer ?? [],
  };
}

/** The format in which the updates of a selection are requested. */
export const formatOf = (selection: Selection): UpdateFormat =>
  (selection.isWithEffects ? ledgerEffects : acsDelta)(selection);

/** Passes the updates of a selection. */
export function select(selection: Pick<Selection, 'variants' | 'synchronizers'>): MonoTypeOperatorFunction<Update> {
  const [variant, ...variants] = selection.variants;
  const [synchronizer, ...synchronizers] = selection.synchronizers;
  return pipe(
    variant === undefined ? identity<Observable<Update>> : ofVariant(variant, ...variants),
    synchronizer === undefined ? identity : onSynchronizer(synchronizer, ...synchronizers),
  );
}

/** How far updates are read. Only {@link readSelected} changes it. */
export interface Reading {
  /** The offset of the last update that was read. */
  cursor: number;
  /** The last update with an id: it proves that the ledger is still the same. */
  lastUpdate?: LastUpdate | undefined;
}

/** What is read, and what is done with each update. */
interface Reader {
  readonly selection: Selection;
  /** The last offset; absent for a feed without an end. */
  readonly to?: number | undefined;
  /** Returns the line of an update. Called for those that are left out, too. */
  readonly format: (update: Update) => string;
  /** Called with the line of each selected update. */
  readonly write: (line: string) => void;
}

/**
 * Reads the updates after the cursor, no faster than an output is read, and writes those of a selection; completes at the end of
 * the range. The cursor moves with each update, also with those that are left out.
 */
export const readSelected = (
  { ledger }: Session,
  output: Output,
  reading: Reading,
  { selection, to: endInclusive, format, write }: Reader,
): Observable<unknown> => {
  let line = '';
  return withBackpressure(output, () =>
    defer(() => {
      const { cursor, lastUpdate } = reading;
      return ledger.updates({
        after: { offset: cursor, recordTimes: {}, ...(lastUpdate !== undefined && { lastUpdate }) },
        endInclusive,
        updateFormat: formatOf(selection),
      });
    }).pipe(
      tap((update) => {
        // before the cursor moves: an update that cannot be formatted must not be skipped
        line = format(update);
        reading.cursor = update.offset;
        if ('updateId' in update) reading.lastUpdate = { offset: update.offset, updateId: update.updateId };
      }),
      select(selection),
      tap(() => {
        write(line);
      }),
    ),
  );
};
