import type { TemplateType } from './TemplateType.js';

/** The templates of the sandbox, by package name; the arguments of all others are typed by what they look like. */
export const ownTemplates: ReadonlyMap<string, TemplateType> = new Map<string, TemplateType>([
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
