import type { Identifier } from '@canton-network/core-ledger-proto';
import type { TemplateRef } from '../wire/WireEvent.js';

/** A Daml type, as far as the templates of the sandbox use them. Those with a name are declared beside their template. */
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

/** The fields of a record in the order of their declaration, or the cases of a variant. */
export type Fields = Readonly<Record<string, LfType>>;

/** What is known of a template. */
interface TemplateType {
  readonly fields: Fields;
  /** The fields of type `Party` that are observers. */
  readonly observers?: readonly string[];
}

/** The templates of the sandbox, by package name; the arguments of all others are typed by what they look like. */
const ownTemplates: ReadonlyMap<string, TemplateType> = new Map<string, TemplateType>([
  [
    'sandbox-assets:Main:Asset',
    { fields: { owner: 'party', amount: 'numeric', tag: { optional: 'text' }, serial: 'int64' } },
  ],
  [
    'sandbox-assets:Main:Offer',
    {
      fields: { seller: 'party', buyer: 'party', price: 'numeric', kind: { name: 'Kind', variant: { Fixed: 'unit' } } },
      observers: ['buyer'],
    },
  ],
  [
    'sandbox-tasks:Tasks.Model:Task',
    { fields: { owner: 'party', title: 'text', due: 'date', steps: { list: 'int64' } } },
  ],
  [
    'sandbox-values:Values:Sample',
    {
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
  ],
]);

/** What is known of a template; of a foreign one, nothing. */
export function typeOfTemplate({ id, packageName }: TemplateRef): TemplateType {
  return ownTemplates.get(packageName + id.slice(id.indexOf(':'))) ?? { fields: {} };
}

/** An identifier in its parts. */
export function toIdentifier(id: string): Identifier {
  const [packageId = '', moduleName = '', entityName = ''] = id.split(':');
  return { packageId, moduleName, entityName };
}

/** An identifier in one string. */
export function fromIdentifier({ packageId, moduleName, entityName }: Identifier): string {
  return `${packageId}:${moduleName}:${entityName}`;
}

const dayMs = 24 * 3600 * 1000;

/** The days since the epoch of a date; `NaN` if it is none. */
export function daysOf(date: string): number {
  return Date.parse(`${date}T00:00:00Z`) / dayMs;
}

/** The date of so many days since the epoch; the empty text if there is none. */
export function dateOf(days: number): string {
  const date = new Date(days * dayMs);
  return Number.isNaN(date.getTime()) ? '' : date.toISOString().slice(0, 10);
}
