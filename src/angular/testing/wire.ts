import { type ContractType, type CreatableType, isInterfaceType } from '../../codecs/ContractType.js';
import type { HttpResponse } from '../../http/HttpPort.js';

/** A created event as it is sent. */
interface Created {
  readonly contractId: string;
  readonly templateId: string;
  readonly packageName: string;
  readonly witnessParties: readonly string[];
}

/** A test contract. */
export interface TestContract {
  /** The template or interface with which it was created, including the package name. */
  readonly typeId: string;
  readonly created: Created;
}

/** The fields that a supported request may have. */
export interface RequestBody {
  readonly beginExclusive: number;
  readonly endInclusive?: number;
  readonly eventFormat?: PartyFilters;
  readonly updateFormat?: { readonly includeTransactions?: { readonly eventFormat: PartyFilters } };
  readonly filter?: PartyFilters;
}

interface PartyFilters {
  readonly filtersByParty?: Readonly<Record<string, Filters>>;
  readonly filtersForAnyParty?: Filters | null;
}

interface Filters {
  readonly cumulative?: readonly {
    readonly identifierFilter: {
      readonly TemplateFilter?: { readonly value: { readonly templateId: string } };
      readonly InterfaceFilter?: { readonly value: { readonly interfaceId: string } };
    };
  }[];
}

const packageId = 'package-of-tests';
const synchronizerId = 'synchronizer::of-tests';

/** Returns the event of a new contract. */
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

/** Returns the event of the end of a contract. */
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

/** Whether parties of a request see a contract, and the request selects its type. */
export function viewerOf({ filtersByParty = {}, filtersForAnyParty }: PartyFilters = {}): (
  contract: TestContract,
) => boolean {
  const ofAny = filtersForAnyParty ? [filtersForAnyParty] : [];
  return ({ typeId, created: { templateId, witnessParties } }) =>
    [...ofAny, ...witnessParties.flatMap((party) => filtersByParty[party] ?? [])]
      .map(({ cumulative = [] }) => cumulative.map(typeOf))
      .some(
        (types) => types.length === 0 || types.some((id) => id === undefined || id === typeId || id === templateId),
      );
}

/** Returns the template or interface that a filter selects; `undefined` if it selects all. */
const typeOf = ({ identifierFilter }: NonNullable<Filters['cumulative']>[number]): string | undefined =>
  identifierFilter.TemplateFilter?.value.templateId ?? identifierFilter.InterfaceFilter?.value.interfaceId;

/** Returns a response with JSON. */
export const answer = (body: object, status = 200): HttpResponse => ({
  status,
  headers: { 'content-type': 'application/json' },
  text: JSON.stringify(body),
});
