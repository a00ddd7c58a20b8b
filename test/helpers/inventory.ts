import type { CreatedEvent } from '../../src/codecs/Event.js';

// @daml/types reports every template that it registers
const { debug } = console;
console.debug = () => undefined;
const { Inventory } = await import('../fixtures/codegen35/lib/index.js');
const former = await import('../fixtures/codegen34/lib/index.js');
console.debug = debug;

/** Modules as the code generator of 3.5 emits them, and as that of 3.4 does of the version before. */
export { Inventory };
export const Former = former.Inventory;

/** A crate as the ledger sends it. */
export const crate = {
  holder: 'alice::1220dd',
  weight: '2.5000000000',
  count: '7',
  grade: 'Fresh',
  packing: { tag: 'Boxed', value: { layers: '2' } },
  origin: { country: 'IT', picked: '2026-07-20' },
  labels: [['pallet', '4']],
  note: null,
};

/** Packages of the ledger: the two versions of the inventory, and its interfaces. */
export const packages = { former: 'b1'.repeat(32), current: 'b2'.repeat(32), api: 'a9'.repeat(32) };

/** The creation of a crate of the current version. */
export const crateCreated = (fields: Partial<CreatedEvent> = {}): CreatedEvent => ({
  _tag: 'CreatedEvent',
  offset: 1,
  nodeId: 0,
  contractId: '00c1',
  templateId: `${packages.current}:Inventory:Crate`,
  packageName: 'inventory',
  createdAt: '2026-07-24T10:00:00Z',
  createArgument: crate,
  interfaceViews: [],
  witnessParties: ['alice::1220dd'],
  signatories: ['alice::1220dd'],
  observers: [],
  ...fields,
});

/** A copy without a field. */
export const without = <A extends object, K extends keyof A>(key: K, fields: A): Omit<A, K> =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => name !== key)) as Omit<A, K>;
