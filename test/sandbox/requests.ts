import type {
  ExternalParty,
  Sandbox,
  SandboxOptions,
  WireCreatedEvent,
  WireEventInput,
  WireUpdateInput,
} from '../../src/sandbox/index.js';
import { at, keys, listAt, post, type Reply, sandboxWith, textAt } from './client.js';

// Formats and filters

export const wildcard = (includeCreatedEventBlob = false) => ({
  WildcardFilter: { value: { includeCreatedEventBlob } },
});

export const template = (templateId: string, includeCreatedEventBlob = false) => ({
  TemplateFilter: { value: { templateId, includeCreatedEventBlob } },
});

export const byInterface = (interfaceId: string, includeInterfaceView = true, includeCreatedEventBlob = false) => ({
  InterfaceFilter: { value: { interfaceId, includeInterfaceView, includeCreatedEventBlob } },
});

const cumulativeOf = (filters: readonly object[]) => ({
  cumulative: filters.map((identifierFilter) => ({ identifierFilter })),
});

export const forAny = (...filters: readonly object[]) => ({
  filtersByParty: {},
  filtersForAnyParty: cumulativeOf(filters),
  verbose: false,
});

export const anyParty = forAny();

export const forParty = (party: string, ...filters: readonly object[]) => ({
  filtersByParty: { [party]: cumulativeOf(filters) },
  verbose: false,
});

export const acsDelta = (eventFormat: unknown) => ({ eventFormat, transactionShape: 'TRANSACTION_SHAPE_ACS_DELTA' });

export const ledgerEffects = (eventFormat: unknown) => ({
  eventFormat,
  transactionShape: 'TRANSACTION_SHAPE_LEDGER_EFFECTS',
});

/** Selects all updates of all parties. */
export const everything = {
  includeTransactions: acsDelta(anyParty),
  includeReassignments: anyParty,
  includeTopologyEvents: { includeParticipantAuthorizationEvents: { parties: [] } },
};

// Updates

export const updatesPath = '/v2/updates';

export const flatsPath = '/v2/updates/flats';

/** A request for all updates, without an end. */
export const tail = { beginExclusive: 0, updateFormat: everything };

/** A request for all updates up to an offset. */
export const upTo = (endInclusive: number) => ({ ...tail, endInclusive });

/** Reads the updates up to the ledger end, by default all. */
export const readUpdates = (sandbox: Sandbox, fields: object = {}): Promise<Reply> =>
  post(sandbox, updatesPath, { ...upTo(sandbox.ledgerEnd), ...fields });

export const transaction = (...events: readonly WireEventInput[]): WireUpdateInput => ({
  Transaction: { value: { events } },
});

/** A transaction that creates one contract. */
export const creation = (fields: Partial<WireCreatedEvent> = {}) => transaction({ CreatedEvent: fields });

/** Transactions that create contracts. */
export const creationsOf = (count: number, fields: Partial<WireCreatedEvent> = {}): readonly WireUpdateInput[] =>
  Array.from({ length: count }, () => creation(fields));

/** Transactions that create contracts with these ids. */
export const creations = (...contractIds: readonly string[]): readonly WireUpdateInput[] =>
  contractIds.map((contractId) => creation({ contractId }));

/** A transaction that archives a contract. */
export const archive = (contractId: string): WireUpdateInput => transaction({ ArchivedEvent: { contractId } });

export const unassign = (contractId: string): WireUpdateInput => ({
  Reassignment: { value: { events: [{ JsUnassignedEvent: { value: { contractId } } }] } },
});

export const assign = (contractId: string, createdEvent: Partial<WireCreatedEvent> = {}): WireUpdateInput => ({
  Reassignment: { value: { events: [{ JsAssignmentEvent: { createdEvent: { ...createdEvent, contractId } } }] } },
});

/** Starts a sandbox with three transactions. */
export async function sandboxWithThree(options?: SandboxOptions): Promise<Sandbox> {
  const sandbox = await sandboxWith(options);
  sandbox.append(...creationsOf(3));
  return sandbox;
}

// Active contracts

export const contractsPath = '/v2/state/active-contracts';

export const pagePath = `${contractsPath}-page`;

/** Reads a list of the active contracts, by default all at the ledger end. */
export const list = (sandbox: Sandbox, fields: object = {}, query = ''): Promise<Reply> =>
  post(sandbox, contractsPath + query, { activeAtOffset: sandbox.ledgerEnd, eventFormat: anyParty, ...fields });

/** Reads a page of the active contracts. */
export const page = (sandbox: Sandbox, fields: object = {}): Promise<Reply> =>
  post(sandbox, pagePath, { eventFormat: anyParty, ...fields });

/** Entries in short: the kind, the contract, and where it is. */
export const outline = (elements: unknown): readonly string[] => listAt(elements).map(outlineOf);

function outlineOf(element: unknown): string {
  const entry = at(element, 'contractEntry');
  const [kind = ''] = keys(entry);
  const value = at(entry, kind);
  const synchronizer = at(value, 'synchronizerId') ?? at(value, 'unassignedEvent', 'target');
  const place = typeof synchronizer === 'string' ? [synchronizer.replace(/::.*/, '')] : [];
  const created = at(value, 'createdEvent') ?? at(value, 'assignedEvent', 'createdEvent');
  return [kind.replace('Js', ''), textAt(created, 'contractId'), ...place].join(' ');
}

// Submissions

/** The id of a contract that no sandbox has. */
export const unknownContractId = `00${'ab'.repeat(32)}ca1112${'cd'.repeat(32)}`;

export const assetId = '#sandbox-assets:Main:Asset';

export const create = (templateId: string, createArguments: object) => ({
  CreateCommand: { templateId, createArguments },
});

/** Creates a contract of a template that the sandbox does not know yet. */
export const createCommand = create('#assets:Main:Asset', { amount: '1.0' });

export const exercise = (templateId: string, contractId: string, choice = 'Archive', choiceArgument: object = {}) => ({
  ExerciseCommand: { templateId, contractId, choice, choiceArgument },
});

export const archiveCommand = (contractId: string) => exercise('#assets:Main:Asset', contractId);

export const absoluteTime = (value: string) => ({ time: { MinLedgerTimeAbs: { value } } });

export const relativeTime = (seconds: number) => ({ time: { MinLedgerTimeRel: { value: { seconds, nanos: 0 } } } });

export const preparePath = '/v2/interactive-submission/prepare';

export const executePath = '/v2/interactive-submission/executeAndWaitForTransaction';

export const prepareBody = (party: string, command: unknown, fields: object = {}) => ({
  userId: '',
  commandId: 'cmd-1',
  commands: [command],
  actAs: [party],
  readAs: [],
  synchronizerId: '',
  packageIdSelectionPreference: [],
  ...fields,
});

export const prepare = (sandbox: Sandbox, party: string, command: unknown = createCommand, fields: object = {}) =>
  post(sandbox, preparePath, prepareBody(party, command, fields));

/** Prepares and signs a command. Returns the body of the execute request. */
export async function prepareAndSign(
  sandbox: Sandbox,
  signer: ExternalParty,
  command?: unknown,
  fields: object = {},
): Promise<object> {
  return signed((await prepare(sandbox, signer.party, command, fields)).json, signer);
}

/** The body of an execute request for the transaction of a prepare response, signed. */
export const signed = (prepared: unknown, { party, sign }: ExternalParty) =>
  executeBody(prepared, party, sign(textAt(prepared, 'preparedTransactionHash')));

/** The body of an execute request for the transaction of a prepare response. */
export function executeBody(prepared: unknown, party: string, ...signatures: readonly unknown[]) {
  return {
    preparedTransaction: textAt(prepared, 'preparedTransaction'),
    partySignatures: { signatures: [{ party, signatures }] },
    deduplicationPeriod: { Empty: {} },
    submissionId: 'sub-1',
    hashingSchemeVersion: textAt(prepared, 'hashingSchemeVersion'),
  };
}

export const execute = (sandbox: Sandbox, body: object, fields: object = {}) =>
  post(sandbox, executePath, { ...body, ...fields });

/** Creates a contract of an external party. Returns its id. */
export async function createContract(sandbox: Sandbox, owner: ExternalParty, command?: unknown) {
  const { json } = await execute(sandbox, await prepareAndSign(sandbox, owner, command, { commandId: 'creation' }));
  return textAt(json, 'transaction', 'events', 0, 'CreatedEvent', 'contractId');
}
