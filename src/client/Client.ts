import { asyncScheduler, map, NEVER, type Observable, of, Subject } from 'rxjs';
import type { Diagnostic, DiagnosticBody, Report, WorkName } from '../diagnostics/Diagnostic.js';
import { quietly } from '../errors/quietly.js';
import type { HttpPort, HttpRequest, HttpResponse } from '../http/HttpPort.js';
import { hurry, type RetryPolicy } from '../http/retry.js';
import type { Addresses } from './Addresses.js';
import type { Interceptor } from './Interceptor.js';
import { Learned, type UpdatesPath } from './Learned.js';
import { reportTo, type Scope } from './Scope.js';
import { TokenSource } from './TokenSource.js';

/** The settings of a client, which stay as they are. */
export interface ClientSettings {
  readonly port: HttpPort;
  /** The address, without a trailing slash; or the addresses of a ledger that has several, or a function. */
  readonly address: string | Addresses;
  /** The caller's headers, which replace those of the library. */
  readonly headers: Readonly<Record<string, string>>;
  readonly tokens?: TokenSource | undefined;
  readonly requestTimeoutMs: number;
  /** How long the participant may process a request, in milliseconds. By default, the participant decides. */
  readonly serverTimeoutMs?: number | undefined;
  /** The default policy of all requests. */
  readonly retry?: RetryPolicy | undefined;
  readonly updatesPath?: UpdatesPath | 'auto' | undefined;
  readonly interceptors?: readonly Interceptor[] | undefined;
}

/** What all views of a client share. */
interface Shared {
  readonly settings: ClientSettings;
  readonly tokens: TokenSource;
  readonly learned: Learned;
  readonly diagnostics: Subject<Diagnostic>;
  readonly success: Subject<unknown>;
}

/** The state of one view of a client. */
interface View {
  readonly shared: Shared;
  /** The address where its requests stay; `undefined` while there are several. */
  readonly address: string | undefined;
  /** Its interceptors, and what they have added to the operation whose requests it sends. */
  readonly scopes: readonly Scope[];
}

/**
 * The client of one participant: its addresses and tokens, what was learned of it, and what it reports. All feeds and
 * submissions of a ledger share it. A view of it stays at one address, or works for one operation; what one view learns, all
 * know. Its secrets are private, so that no log shows them.
 */
export class Client {
  readonly #shared: Shared;
  readonly #address: string | undefined;
  readonly #scopes: readonly Scope[];
  /** Reports what concerns no feed. */
  readonly report: Report = this.reportFor();

  constructor(from: ClientSettings | View) {
    const { shared, address, scopes } = 'shared' in from ? from : viewOf(from);
    this.#shared = shared;
    this.#address = address;
    this.#scopes = scopes;
  }

  /** The interceptors, the outermost first. */
  get scopes(): readonly Scope[] {
    return this.#scopes;
  }

  /** Returns the view for an operation. */
  within(scopes: readonly Scope[]): Client {
    return new Client({ shared: this.#shared, address: this.#address, scopes });
  }

  /** What was learned of the participant. */
  get learned(): Learned {
    return this.#shared.learned;
  }

  /** The tokens of the requests. */
  get tokens(): TokenSource {
    return this.#shared.tokens;
  }

  get requestTimeoutMs(): number {
    return this.#shared.settings.requestTimeoutMs;
  }

  get serverTimeoutMs(): number | undefined {
    return this.#shared.settings.serverTimeoutMs;
  }

  /** The default policy of all requests. */
  get retry(): RetryPolicy | undefined {
    return this.#shared.settings.retry;
  }

  /** The address, which may be that of the last request; `undefined` before the first one. */
  get address(): string | undefined {
    return this.#address ?? this.#addresses?.last;
  }

  /** The host and the port, for errors: without path, query and credentials. */
  get host(): string {
    const { address } = this;
    return address === undefined ? '' : new URL(address).host;
  }

  /** Emits after the requests have gone to another address. */
  get moved$(): Observable<void> {
    return this.#addresses?.moved$ ?? NEVER;
  }

  /** Whether its requests stay at one address. */
  get isLocated(): boolean {
    return this.#address !== undefined;
  }

  /** Emits the view at the address of the next request. Requests that belong together go over one such view. */
  located(path: string): Observable<Client> {
    const addresses = this.#addresses;
    if (addresses === undefined || this.isLocated) return of(this);
    return addresses.next(path, this.report).pipe(map((address) => this.at(address)));
  }

  /** Returns the view at an address. */
  at(address: string): Client {
    return address === this.#address ? this : new Client({ shared: this.#shared, address, scopes: this.#scopes });
  }

  /** Returns the headers of a request. */
  headersWith(token: string | undefined): Readonly<Record<string, string>> {
    return { ...(token !== undefined && { authorization: `Bearer ${token}` }), ...this.#shared.settings.headers };
  }

  /** Sends a request once, as it is. */
  send(request: HttpRequest): Observable<HttpResponse> {
    return this.#shared.settings.port(request);
  }

  /** Records a success, which shows that the participant can be reached. */
  succeeded(path: string): void {
    this.learned.answered(path);
    this.#shared.success.next(undefined);
  }

  /** Records an error that is the participant's own. */
  refused(path: string): void {
    this.learned.answered(path);
  }

  /** Records the end of a request, and since when there should have been a response, in milliseconds. */
  ended(waitingSince: number, error?: unknown): void {
    if (this.#address !== undefined) this.#addresses?.ended(this.#address, waitingSince, error);
  }

  /**
   * Whether the participant has answered, also with an error; with a path, whether it has answered there. Before that, an
   * address may be wrong; afterwards, it is not. If one of several addresses is wrong, the next one may be right.
   */
  hasAnswered(path?: string): boolean {
    return (path === undefined && this.#addresses !== undefined) || this.learned.hasAnswered(path);
  }

  /** The diagnostics of the client, its feeds and its submissions. */
  get diagnostics$(): Observable<Diagnostic> {
    return this.#shared.diagnostics.asObservable();
  }

  /** Whether there is a subscriber to the diagnostics. */
  get isObserved(): boolean {
    return this.#shared.diagnostics.observed;
  }

  /** Emits after each request that succeeds, and `hurry` when the requests that wait should be repeated now. */
  get success$(): Observable<unknown> {
    return this.#shared.success.asObservable();
  }

  /**
   * Returns the report function of a feed, which may be that of a processor with a name, or of the client itself. It creates a
   * diagnostic only if there is a subscriber.
   */
  reportFor(feed?: number, processor?: string): Report {
    const from = { ...(feed !== undefined && { feed }), ...(processor !== undefined && { processor }) };
    return (body) => {
      const { diagnostics } = this.#shared;
      if (!diagnostics.observed && this.#scopes.length === 0) return;
      const diagnostic = { ...body(), at: asyncScheduler.now(), ...from };
      reportTo(this.#scopes, diagnostic);
      diagnostics.next(diagnostic);
    };
  }

  /** Numbers a new feed and returns its report function. */
  reportForNewFeed(processor?: string): Report {
    return this.reportFor(this.learned.newFeed(), processor);
  }

  get #addresses(): Addresses | undefined {
    const { address } = this.#shared.settings;
    return typeof address === 'string' ? undefined : address;
  }
}

/** Returns the first view of a new client. */
function viewOf(settings: ClientSettings): View {
  const { address, tokens = new TokenSource(undefined, 0), updatesPath = 'auto', interceptors = [] } = settings;
  const shared = {
    settings,
    tokens,
    learned: new Learned(updatesPath),
    diagnostics: new Subject<Diagnostic>(),
    success: new Subject<unknown>(),
  };
  const ledger = {
    get address() {
      return typeof address === 'string' ? address : address.last;
    },
    retryNow: () => {
      shared.success.next(hurry);
    },
  };
  const scopes = interceptors.map((each) => ({ interceptor: quietly(() => each.forLedger?.(ledger)) ?? each }));
  return { shared, address: typeof address === 'string' ? address : undefined, scopes };
}

/** Returns the report function of a rule or of an outbox: each diagnostic names it. */
export const reportOf =
  (report: Report, name: WorkName | undefined): Report =>
  (body) => {
    report(() => ({ ...body(), ...name }));
  };

/** Returns the report function of one of several feeds that are reported as one: without some diagnostics. */
export const reportWithout =
  (report: Report, ...tags: readonly DiagnosticBody['_tag'][]): Report =>
  (body) => {
    const diagnostic = body();
    if (!tags.includes(diagnostic._tag)) report(() => diagnostic);
  };
