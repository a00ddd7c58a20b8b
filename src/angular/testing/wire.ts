import { type ContractType, type CreatableType, isInterfaceType } from '../../codecs/ContractType.js';
import type { HttpResponse } from '../../http/HttpPort.js';

/** A created event as it is sent. */
export interface Created {
  readonly contractId: string;
  readonly templateId: string;
  readonly packageName: string;
  readonly witnessParties: readonly string[];
}

/** What a request may have, of those that are served. */
export interface RequestBody {
  readonly beginExclusive: number;
  readonly endInclusive?: number;
  readonly eventFormat?: PartyFilters;
  readonly updateFormat?: { readonly includeTransactions?: { readonly eventFormat: PartyFilters } };
  readonly filter?: PartyFilters;
}

interface PartyFilters {
  readonly filtersByParty?: object;
  readonly filtersForAnyParty?: unknown;
}

const packageId = 'package-of-tests';
const synchronizerId = 'synchronizer::of-tests';

/** The event of a new contract. */
export function createdOf(
  offset: number,
  type: ContractType | CreatableType,
  payload: unknown,
  { signatories, observers }: { readonly signatories: readonly string[]; readonly observers: readonly string[] },
): Created {
  const { templateId } = type;
  const end = templateId.indexOf(':');
  const hasName = templateId.startsWith('#');
  const wireId = hasName ? `${packageId}${templateId.slice(end)}` : templateId;
  const isInterface = isInterfaceType(type);
  const view = { interfaceId: wireId, viewStatus: { code: 0 }, viewValue: payload };
  return {
    ...{ offset, nodeId: 0, contractId: `00${offset.toString(16).padStart(8, '0')}` },
    templateId: isInterface ? `${packageId}:Tests:Instance` : wireId,
    packageName: hasName && !isInterface ? templateId.slice(1, end) : 'tests',
    ...{ createArgument: 'encode' in type ? type.encode(payload) : {}, interfaceViews: isInterface ? [view] : [] },
    ...{ signatories, observers, witnessParties: [...signatories, ...observers] },
    ...{ createdAt: new Date().toISOString(), representativePackageId: packageId, acsDelta: true },
    ...{ createdEventBlob: '', contractKey: null },
  };
}

/** The event of the end of a contract. */
export const archivedOf = (
  offset: number,
  { contractId, templateId, packageName, witnessParties }: Created,
): object => ({
  ...{ offset, nodeId: 0, contractId, templateId, packageName, witnessParties, implementedInterfaces: [] },
});

/** An element of a snapshot. */
export const activeOf = (createdEvent: Created): object => ({
  workflowId: '',
  contractEntry: { JsActiveContract: { createdEvent, synchronizerId, reassignmentCounter: 0 } },
  streamContinuationToken: '',
});

/** A transaction with one event. */
export function transactionOf(offset: number, event: object): object {
  const recordTime = new Date().toISOString();
  const ids = { updateId: `1220${offset}`, commandId: '', workflowId: '', synchronizerId };
  return {
    update: { Transaction: { value: { ...ids, offset, events: [event], effectiveAt: recordTime, recordTime } } },
  };
}

/** A checkpoint. */
export const checkpointOf = (offset: number): object => ({
  update: { OffsetCheckpoint: { value: { offset, synchronizerTimes: [] } } },
});

/** Whether parties of a request see something. */
export function viewerOf({ filtersByParty = {}, filtersForAnyParty }: PartyFilters = {}): (seen: {
  readonly witnessParties: readonly string[];
}) => boolean {
  const isAny = filtersForAnyParty !== undefined && filtersForAnyParty !== null;
  return ({ witnessParties }) => isAny || witnessParties.some((party) => party in filtersByParty);
}

/** An answer in JSON. */
export const answer = (body: object, status = 200): HttpResponse => ({
  status,
  headers: { 'content-type': 'application/json' },
  text: JSON.stringify(body),
});
