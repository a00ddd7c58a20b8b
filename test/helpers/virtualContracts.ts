import { concat, defer, EMPTY, from, identity, map, type Observable, of, switchMap, throwError, timer } from 'rxjs';
import { errorOf } from '../../src/errors/readAnswer.js';
import { ConnectionError } from '../../src/errors/request.js';
import type { Transport } from '../../src/feed/LedgerFeed.js';
import { createLedger } from '../../src/ledger/createLedger.js';
import type { Ledger } from '../../src/ledger/Ledger.js';
import { createdEvent } from './contractEvents.js';
import { creationOf, entriesAt, type HistoryUpdate } from './contractHistory.js';
import { type Reply, scriptedService, type ScriptedService, type ServiceRequest } from './scripted.js';
import { VirtualLedger, type VirtualOptions } from './virtualLedger.js';
import { errorBody, errorReply, notFound, ok } from './wire.js';
import type { WorldOptions } from './world.js';

export const listPath = '/v2/state/active-contracts';
export const pagePath = '/v2/state/active-contracts-page';
export const eventsPath = '/v2/events/events-by-contract-id';

/** How a virtual participant serves its active contracts. By default as 3.5.10 and later do. */
export interface VirtualContractsOptions extends VirtualOptions {
  readonly pages?: 'served' | 'gone';
  readonly lists?: 'served' | 'gone';
  /** Whether the elements of lists have tokens. */
  readonly hasTokens?: boolean;
  /** The maximum size of a page. */
  readonly maxPageSize?: number;
  /** The node that answers. It refuses the tokens of another. */
  readonly node?: string;
  /** Whether snapshots have incomplete reassignments only if the request says so, as since 3.7. */
  readonly mustAskForIncomplete?: boolean;
  /** Whether it mispairs the halves of contracts in flight, as 3.5.10 does. */
  readonly mispairs?: boolean;
  /** Whether it finds the creation of a contract, only those that are not pruned, or does not serve the path. */
  readonly creations?: 'found' | 'unpruned' | 'gone';
  /** The packages that it lists; by default it does not serve the list. */
  readonly packages?: readonly string[];
  /** The views that all contracts have. */
  readonly views?: readonly object[];
}

/** The releases that serve snapshots differently. */
export const releases = {
  '3.4': { pages: 'gone', hasTokens: false },
  '3.5.1': { pages: 'gone' },
  '3.6': {},
  '3.7': { mustAskForIncomplete: true, flats: 'gone' },
} as const satisfies Readonly<Record<string, VirtualContractsOptions>>;

/** A participant in virtual time: a ledger, and the snapshots of its active contracts. Without `show`, it does not filter. */
export class VirtualContracts {
  readonly ledger: VirtualLedger;
  private history: HistoryUpdate[] = [];
  /** What requests do not select yet. */
  private hidden: HistoryUpdate[] = [];
  /** After how many elements the next sockets are cut. Those after them are not. */
  readonly socketCuts: number[] = [];
  /** The bodies of the requests of sockets. */
  readonly socketBodies: object[] = [];
  /** The elements of a snapshot. */
  elementsAt = (offset: number): readonly object[] => entriesAt(this.history, offset);

  constructor(private options: VirtualContractsOptions = {}) {
    this.ledger = new VirtualLedger(options);
  }

  reconfigure(changes: VirtualContractsOptions): void {
    this.options = { ...this.options, ...changes };
    this.ledger.reconfigure(changes);
  }

  append(...updates: readonly HistoryUpdate[]): void {
    for (const update of updates) {
      this.history.push(update);
      this.ledger.append(update.offset, update.element);
    }
  }

  /** Commits updates that no request selects, until they appear. */
  appendHidden(...updates: readonly HistoryUpdate[]): void {
    this.hidden.push(...updates);
    for (const { offset } of updates) this.ledger.end = Math.max(this.ledger.end, offset);
  }

  /** From now on, requests select all updates: their templates implement the interface, after an upload. */
  reveal(): void {
    this.history = [...this.history, ...this.hidden].sort((a, b) => a.offset - b.offset);
    for (const { offset, element } of this.hidden) this.ledger.insert(offset, element);
    this.hidden = [];
  }

  /** Uploads a package, with which all updates appear. */
  upload(packageId: string): void {
    this.reconfigure({ packages: [...(this.options.packages ?? []), packageId] });
    this.reveal();
  }

  /** The replies for `scriptedService`. */
  readonly reply = (request: ServiceRequest): Observable<Reply> =>
    this.replyWithoutViews(request).pipe(map((reply) => this.withViews(reply)));

  private withViews(reply: Reply): Reply {
    const { views } = this.options;
    if (views === undefined || reply instanceof Error) return reply;
    return {
      ...reply,
      text: reply.text.replaceAll('"interfaceViews":[]', `"interfaceViews":${JSON.stringify(views)}`),
    };
  }

  private replyWithoutViews(request: ServiceRequest): Observable<Reply> {
    const { latencyMs = 0, packages } = this.options;
    if (request.path === '/v2/packages') {
      const reply$ = defer(() => of(packages === undefined ? notFound : ok({ packageIds: packages })));
      return latencyMs === 0 ? reply$ : timer(latencyMs).pipe(switchMap(() => reply$));
    }
    if (![pagePath, listPath, eventsPath].includes(request.path)) return this.ledger.reply(request);
    const reply$ = defer(() => [
      request.path === eventsPath ? this.eventsReply(request.body) : this.snapshotReply(request),
    ]);
    return latencyMs === 0 ? reply$ : timer(latencyMs).pipe(switchMap(() => reply$));
  }

  private eventsReply({ contractId, ...body }: ServiceRequest['body']): Reply {
    const { creations = 'found', show = identity } = this.options;
    if (creations === 'gone') return notFound;
    const activation = creationOf(this.history, String(contractId));
    if (activation === undefined || (creations === 'unpruned' && activation.offset <= this.ledger.pruned))
      return errorReply(404, errorBody('CONTRACT_EVENTS_NOT_FOUND', 11));
    const created = show({ createdEvent: createdEvent(activation), synchronizerId: 'sync-a::1220ab' }, body);
    if (created === undefined) return errorReply(404, errorBody('CONTRACT_EVENTS_NOT_FOUND', 11));
    return ok({ created, archived: null });
  }

  private snapshotReply(request: ServiceRequest): Reply {
    const { pages = 'served', lists = 'served' } = this.options;
    if ((request.path === pagePath ? pages : lists) === 'gone') return notFound;
    return request.path === pagePath ? this.page(request.body) : this.list(request);
  }

  /** Sends lists as a WebSocket does. */
  readonly transport: Transport = {
    _tag: 'Transport',
    over: (source) => source,
    readList: (_service, path, json) =>
      defer(() => {
        const body = JSON.parse(JSON.stringify(json)) as ServiceRequest['body'];
        this.socketBodies.push(body);
        const read = this.read(body, 'streamContinuationToken');
        if ('status' in read) return throwError(() => errorOf({ path, status: read.status, text: read.text }));
        const cutAfter = this.socketCuts.shift();
        const cut$ = cutAfter === undefined ? EMPTY : throwError(() => new ConnectionError(path, 'cut'));
        return concat(from(this.paired(read.elements).slice(0, cutAfter)), cut$);
      }),
  };

  private page(body: ServiceRequest['body']): Reply {
    const { maxPageSize = 10_000 } = this.options;
    const size = Number(body['maxPageSize'] ?? 2_000);
    // as a participant does, which takes 0 for no offset
    const requested = Number(body['activeAtOffset'] ?? 0);
    const activeAtOffset = requested > 0 ? requested : (decode(body['pageToken'])?.offset ?? this.ledger.end);
    if (size > maxPageSize) {
      const cause = `Requested page size must not exceed ${maxPageSize}, but got ${size}`;
      return errorReply(400, { ...errorBody('INVALID_ARGUMENT', 8), cause });
    }
    const read = this.read({ ...body, activeAtOffset }, 'pageToken', requested);
    if ('status' in read) return read;
    const rest = read.elements.length - size;
    const next = { ...read.token, index: read.token.index + size };
    const elements = this.paired(read.elements.slice(0, size + 1)).slice(0, size);
    return ok({
      activeContracts: elements.map((element) => ({ ...element, streamContinuationToken: '' })),
      activeAtOffset,
      nextPageToken: rest > 0 ? encode(next) : null,
    });
  }

  private list({ body, query }: ServiceRequest): Reply {
    const { maxListElements = 200 } = this.options;
    const read = this.read(body, 'streamContinuationToken');
    if ('status' in read) return read;
    const size = Math.min(Number(query['limit'] ?? Infinity), maxListElements + 1);
    const elements = this.paired(read.elements).slice(0, size);
    return elements.length > maxListElements
      ? errorReply(413, errorBody('JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED', 2))
      : ok(elements);
  }

  /** The elements of a batch, as the participant pairs them. */
  private paired(elements: readonly object[]): readonly object[] {
    return this.options.mispairs === true ? mispaired(elements) : elements;
  }

  /** The elements that a request asks for, or the error. */
  private read(body: ServiceRequest['body'], tokenField: string, requested?: number): Part | Exclude<Reply, Error> {
    const { node = 'node-1', hasTokens = true, mustAskForIncomplete = false, show = identity } = this.options;
    const isWhole = !mustAskForIncomplete || body['includeIncompleteReassignments'] === true;
    const offset = Number(body['activeAtOffset']);
    const format = digest(JSON.stringify(body['eventFormat']));
    if (offset > this.ledger.end) return errorReply(400, errorBody('OFFSET_AFTER_LEDGER_END', 12));
    if (offset < this.ledger.pruned) {
      const context = { earliest_offset: String(this.ledger.pruned) };
      return errorReply(400, errorBody('PARTICIPANT_PRUNED_DATA_ACCESSED', 9, context));
    }
    const first: Token = { node, requested, offset, format, isWhole, index: 0 };
    const sent = tokenField === 'pageToken' || hasTokens ? body[tokenField] : undefined;
    const token = sent === undefined || sent === null ? first : decode(sent);
    const code = tokenField === 'pageToken' ? 'INVALID_ACS_PAGE_TOKEN' : 'INVALID_CONTINUATION_TOKEN';
    if (token === undefined) return errorReply(400, errorBody('INVALID_FIELD', 8));
    if (encode({ ...token, index: 0 }) !== encode(first)) return errorReply(400, errorBody(code, 8));
    const served = this.elementsAt(offset)
      .filter((element) => isWhole || isActive(element))
      .flatMap((element) => show(element, body) ?? []);
    const elements = served.map((element, i) => ({
      ...element,
      streamContinuationToken: hasTokens ? encode({ ...first, index: i + 1 }) : undefined,
    }));
    return { elements: elements.slice(token.index), token };
  }
}

/**
 * Puts the created events of a batch, in the order of activation, next to its unassigned events, in the order of
 * unassignment.
 */
function mispaired(elements: readonly object[]): readonly object[] {
  const inFlight = elements.filter(isInFlight);
  const created = inFlight
    .map((element) => element.contractEntry.JsIncompleteUnassigned.createdEvent)
    .sort((one, other) => one.offset - other.offset || one.nodeId - other.nodeId);
  return elements.map((element) => {
    if (!isInFlight(element)) return element;
    const JsIncompleteUnassigned = {
      ...element.contractEntry.JsIncompleteUnassigned,
      createdEvent: created[inFlight.indexOf(element)],
    };
    return { ...element, contractEntry: { JsIncompleteUnassigned } };
  });
}

interface InFlight {
  readonly contractEntry: {
    readonly JsIncompleteUnassigned: { readonly createdEvent: { readonly offset: number; readonly nodeId: number } };
  };
}

const isInFlight = (element: object): element is InFlight =>
  JSON.stringify(element).includes('"JsIncompleteUnassigned"');

/** A short text for a long one: a token stays small with thousands of parties. It also runs in a browser. */
const digest = (text: string): string =>
  Array.from(text)
    .reduce((hash, letter) => (Math.imul(hash, 31) + (letter.codePointAt(0) ?? 0)) | 0, 7)
    .toString(36);

/** What a token stands for. */
interface Token {
  readonly node: string;
  /** The offset as the request of a page has it. */
  readonly requested: number | undefined;
  readonly offset: number;
  readonly format: string;
  readonly isWhole: boolean;
  readonly index: number;
}

/** The rest of a snapshot, and the token of its beginning. */
interface Part {
  readonly elements: readonly object[];
  readonly token: Token;
}

const isActive = (element: object): boolean => JSON.stringify(element).includes('"JsActiveContract"');

const encode = (token: Token): string => btoa(JSON.stringify(token));

function decode(token: unknown): Token | undefined {
  try {
    return JSON.parse(atob(String(token))) as Token;
  } catch {
    return undefined;
  }
}

/** A virtual participant, the service that serves it, and a client of that service. */
export interface ContractsWorld {
  readonly participant: VirtualContracts;
  readonly service: ScriptedService;
  readonly client: Ledger;
}

export function contractsWorld({
  fault,
  client: options,
  ...virtual
}: VirtualContractsOptions & Pick<WorldOptions, 'fault' | 'client'> = {}): ContractsWorld {
  const participant = new VirtualContracts(virtual);
  const service = scriptedService((request, count) =>
    defer(() => {
      const faulty = fault?.(request, count);
      if (faulty === undefined) return participant.reply(request);
      return 'subscribe' in faulty ? faulty : of(faulty);
    }),
  );
  const client = createLedger({ baseUrl: 'http://ledger.example', port: service.port, ...options });
  return { participant, service, client };
}
