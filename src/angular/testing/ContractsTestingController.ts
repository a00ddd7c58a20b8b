import { BehaviorSubject, concatMap, defer, filter, type Observable, of, race, Subject, take, timer } from 'rxjs';
import type { ContractType, CreatableType, PayloadOf } from '../../codecs/ContractType.js';
import type { HttpPort, HttpRequest, HttpResponse } from '../../http/HttpPort.js';
import {
  activeOf,
  answer,
  archivedOf,
  checkpointOf,
  createdOf,
  type RequestBody,
  type TestContract,
  transactionOf,
  viewerOf,
} from './wire.js';

/**
 * The stakeholders of a test contract.
 *
 * @category Testing
 */
export interface TestContractOptions {
  /**
   * The signatories.
   *
   * @defaultValue one party, `'test::1220'`
   */
  readonly signatories?: readonly string[] | undefined;
  /**
   * The observers.
   *
   * @defaultValue none
   */
  readonly observers?: readonly string[] | undefined;
}

/**
 * The contracts of the ledger that `provideContractsTesting` provides. Inject it with `TestBed.inject`.
 *
 * @category Testing
 */
export class ContractsTestingController {
  readonly #updates: Update[] = [];
  readonly #appended$ = new Subject<void>();
  readonly #active = new Map<string, TestContract>();
  readonly #isHeld$ = new BehaviorSubject(false);
  #refusal: HttpResponse | undefined;

  /**
   * Creates a contract of a template, in a separate transaction.
   *
   * @param type - the template
   * @param payload - the contract arguments
   * @returns the contract ID
   */
  create<T extends CreatableType>(type: T, payload: PayloadOf<T>, options?: TestContractOptions): string;
  /**
   * Creates a contract that has a view of an interface.
   *
   * @param type - the interface
   * @param payload - the view as the JSON of the ledger
   * @returns the contract ID
   */
  create(type: ContractType, payload: unknown, options?: TestContractOptions): string;
  create(
    type: ContractType | CreatableType,
    payload: unknown,
    { signatories = ['test::1220'], observers = [] }: TestContractOptions = {},
  ): string {
    const created = createdOf(this.#updates.length + 1, type, payload, { signatories, observers });
    const contract = { typeId: type.templateId, created };
    this.#active.set(created.contractId, contract);
    this.#append({ ...contract, event: { CreatedEvent: created } });
    return created.contractId;
  }

  /**
   * Archives a contract, in a separate transaction.
   *
   * @throws Error if there is no such contract
   */
  archive(contractId: string): void {
    const contract = this.#active.get(contractId);
    if (contract === undefined) throw new Error(`There is no active contract ${contractId}.`);
    this.#active.delete(contractId);
    this.#append({ ...contract, event: { ArchivedEvent: archivedOf(this.#updates.length + 1, contract.created) } });
  }

  /** Stops answering requests, like a slow ledger: what is not known yet stays `'loading'`. */
  hold(): void {
    this.#isHeld$.next(true);
  }

  /**
   * Answers the held requests and later ones. Also ends `refuse`; the contracts are then shown again after `reload`.
   */
  release(): void {
    this.#refusal = undefined;
    this.#isHeld$.next(false);
  }

  /**
   * Rejects all requests for lack of rights until `release` is called, including held ones. This ends each view with an
   * error.
   */
  refuse(): void {
    const error = { code: 'PERMISSION_DENIED', cause: 'refused by the test', errorCategory: 7, context: {} };
    this.#refusal = answer(error, 403);
    this.#isHeld$.next(false);
    this.#appended$.next();
  }

  /**
   * Answers the requests of the ledger.
   *
   * @internal
   */
  readonly port: HttpPort = (request) => this.#whenReleased(() => this.#reply(request));

  #whenReleased<A>(source: () => Observable<A>): Observable<A> {
    return this.#isHeld$.pipe(
      filter((isHeld) => !isHeld),
      take(1),
      concatMap(source),
    );
  }

  #append(update: Update): void {
    this.#updates.push(update);
    this.#appended$.next();
  }

  #reply({ url, body = '{}' }: HttpRequest): Observable<HttpResponse> {
    const { pathname, searchParams } = new URL(url);
    const content = JSON.parse(body) as RequestBody;
    if (this.#refusal !== undefined) return of(this.#refusal);
    if (pathname.endsWith('/v2/state/ledger-end')) return of(answer({ offset: this.#updates.length }));
    if (pathname.endsWith('/v2/state/active-contracts-page')) return of(this.#snapshot(content));
    if (!/\/v2\/updates(\/flats)?$/.test(pathname)) return of(answer({ error: 'not served in tests' }, 404));
    const limit = Number(searchParams.get('limit') ?? Infinity);
    const page$ = defer(() => of(this.#refusal ?? this.#page(content, limit)));
    if (content.endInclusive !== undefined || content.beginExclusive < this.#updates.length) return page$;
    const idleMs = Number(searchParams.get('stream_idle_timeout_ms') ?? 500);
    return race(this.#appended$, timer(idleMs)).pipe(
      take(1),
      concatMap(() => this.#whenReleased(() => page$)),
    );
  }

  #snapshot({ eventFormat }: RequestBody): HttpResponse {
    const activeContracts = [...this.#active.values()]
      .filter(viewerOf(eventFormat))
      .map(({ created }) => activeOf(created));
    return answer({ activeContracts, activeAtOffset: this.#updates.length, nextPageToken: null });
  }

  #page({ beginExclusive, endInclusive, updateFormat, filter: legacy }: RequestBody, limit: number): HttpResponse {
    const end = this.#updates.length;
    const sees = viewerOf(updateFormat?.includeTransactions?.eventFormat ?? legacy);
    const transactions = this.#updates
      .map((update, index) => ({ ...update, offset: index + 1 }))
      .filter(({ offset }) => offset > beginExclusive && offset <= (endInclusive ?? end))
      .filter(sees)
      .slice(0, limit)
      .map(({ offset, event }) => transactionOf(offset, event));
    // updates of other parties or types
    const isBehind = transactions.length === 0 && endInclusive === undefined && beginExclusive < end;
    return answer(isBehind ? [checkpointOf(end)] : transactions);
  }
}

/** An update with one event of a contract. Its offset is its place in the list of updates. */
interface Update extends TestContract {
  readonly event: object;
}
