import type { TemplateRef } from '../wire/WireUpdate.js';

/** A Daml type of the templates of the sandbox. Named types are declared in the module of their template. */
export type LfType =
  | 'unit'
  | 'bool'
  | 'int64'
  | 'numeric'
  | 'text'
  | 'party'
  | 'contractId'
  | 'date'
  | 'timestamp'
  | { readonly optional: LfType }
  | { readonly list: LfType }
  | { readonly textMap: LfType }
  | { readonly genMap: readonly [key: LfType, value: LfType] }
  | { readonly record: Fields; readonly name: string }
  | { readonly variant: Fields; readonly name: string }
  | { readonly enum: readonly string[]; readonly name: string };

/** The fields of a record in the order of their declaration, or the constructors of a variant. */
export type Fields = Readonly<Record<string, LfType>>;

/** The type of a template. */
interface TemplateType {
  /** The fields; `undefined` if they are not known. */
  readonly fields?: Fields;
  /** The fields whose parties are observers. */
  readonly observers?: readonly string[];
}

/** The templates of the sandbox, by package name. The types of the arguments of all other templates are guessed. */
const ownTemplates: Readonly<Record<string, TemplateType>> = {
  'sandbox-assets:Main:Asset': {
    fields: { owner: 'party', amount: 'numeric', tag: { optional: 'text' }, serial: 'int64' },
  },
  'sandbox-assets:Main:Offer': {
    fields: { seller: 'party', buyer: 'party', price: 'numeric', kind: { name: 'Kind', variant: { Fixed: 'unit' } } },
    observers: ['buyer'],
  },
  'sandbox-tasks:Tasks.Model:Task': {
    fields: { owner: 'party', title: 'text', due: 'date', steps: { list: 'int64' } },
  },
  'sandbox-values:Values:Sample': {
    fields: {
      owner: 'party',
      active: 'bool',
      count: 'int64',
      amount: 'numeric',
      note: 'text',
      day: 'date',
      at: 'timestamp',
      contract: { optional: 'contractId' },
      limits: { list: 'numeric' },
      meta: { textMap: 'text' },
      shares: { genMap: ['party', 'numeric'] },
      lock: { optional: { name: 'Lock', record: { holder: 'party', reason: { optional: 'text' } } } },
      price: { name: 'Price', variant: { Fixed: 'numeric', Market: 'unit' } },
      colour: { name: 'Colour', enum: ['Red', 'Green', 'Blue'] },
      nothing: 'unit',
    },
  },
};

/** Finds the type of a template. */
export function findTemplateType({ id, packageName }: TemplateRef): TemplateType {
  return ownTemplates[packageName + id.slice(id.indexOf(':'))] ?? {};
}

/** The id of a template, as the vendor's encoding has it. That package is optional, and public types must not name it. */
interface Identifier {
  readonly packageId: string;
  readonly moduleName: string;
  readonly entityName: string;
}

/** Splits an identifier into its parts. */
export function parseIdentifier(id: string): Identifier {
  const [packageId = '', moduleName = '', entityName = ''] = id.split(':');
  return { packageId, moduleName, entityName };
}

/** Joins the parts of an identifier. */
export function formatIdentifier({ packageId, moduleName, entityName }: Identifier): string {
  return `${packageId}:${moduleName}:${entityName}`;
}

const dayMs = 24 * 3600 * 1000;

/** Parses a date to days since the epoch; `NaN` if it is invalid. */
export function parseDays(date: string): number {
  return Date.parse(`${date}T00:00:00Z`) / dayMs;
}

/** Formats days since the epoch as a date; `''` if the date does not exist. */
export function formatDays(days: number): string {
  const date = new Date(days * dayMs);
  return Number.isNaN(date.getTime()) ? '' : date.toISOString().slice(0, 10);
}
