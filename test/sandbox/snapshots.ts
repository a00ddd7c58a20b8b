import type { Sandbox, WireCreatedEvent, WireUpdateInput } from '../../src/sandbox/index.js';
import { at, listAt, post, type Reply, textAt } from './client.js';
import { anyParty } from './requests.js';

export const path = '/v2/state/active-contracts';
export const pagePath = `${path}-page`;

/** Reads a list of the active contracts, by default all at the ledger end. */
export const list = (sandbox: Sandbox, fields: object = {}, query = ''): Promise<Reply> =>
  post(sandbox, path + query, { activeAtOffset: sandbox.ledgerEnd, eventFormat: anyParty, ...fields });

/** Reads a page of the active contracts. */
export const page = (sandbox: Sandbox, fields: object = {}): Promise<Reply> =>
  post(sandbox, pagePath, { eventFormat: anyParty, ...fields });

/** Transactions that create contracts with these ids. */
export const creations = (...contractIds: readonly string[]): readonly WireUpdateInput[] =>
  contractIds.map((contractId) => ({ Transaction: { value: { events: [{ CreatedEvent: { contractId } }] } } }));

/** A transaction that archives a contract. */
export const archive = (contractId: string): WireUpdateInput => ({
  Transaction: { value: { events: [{ ArchivedEvent: { contractId } }] } },
});

export const unassign = (contractId: string): WireUpdateInput => ({
  Reassignment: { value: { events: [{ JsUnassignedEvent: { value: { contractId } } }] } },
});

export const assign = (contractId: string, createdEvent: Partial<WireCreatedEvent> = {}): WireUpdateInput => ({
  Reassignment: { value: { events: [{ JsAssignmentEvent: { createdEvent: { ...createdEvent, contractId } } }] } },
});

/** Entries in short: the kind, the contract, and where it is. */
export const outline = (elements: unknown): readonly string[] => listAt(elements).map(outlineOf);

function outlineOf(element: unknown): string {
  const entry = at(element, 'contractEntry');
  const [kind = ''] = Object.keys(Object(entry) as object);
  const value = at(entry, kind);
  const synchronizer = at(value, 'synchronizerId') ?? at(value, 'unassignedEvent', 'target');
  const place = typeof synchronizer === 'string' ? [synchronizer.replace(/::.*/, '')] : [];
  const created = at(value, 'createdEvent') ?? at(value, 'assignedEvent', 'createdEvent');
  return [kind.replace('Js', ''), textAt(created, 'contractId'), ...place].join(' ');
}
