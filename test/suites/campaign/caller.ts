import {
  asyncScheduler,
  concatMap,
  defer,
  NEVER,
  type Observable,
  type ObservableInput,
  of,
  throwError,
  timer,
} from 'rxjs';
import type { Gap } from '../../../src/feed/LedgerFeed.js';
import type { Reply, ServiceRequest } from '../../helpers/scripted.js';
import type { VirtualLedger } from '../../helpers/virtualLedger.js';
import { type ForcedEnd, keyOf } from './requests.js';
import type { GapChoice, TokenPlan } from './Schedule.js';
import { refusing, statuses } from './statuses.js';

const refusals = new Set(Object.values(refusing).map((reply) => keyOf(reply())));

/** Whether a body has arrived whole. */
function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * A token provider, the service's check of its tokens, and the model of when a refused token must end a feed: when the
 * provider returns the same token again, and none was accepted before.
 */
export class Tokens {
  private count = 0;
  private issuedAt = -Infinity;
  private readonly issued = new Map<string, number>();
  /** The last request of each token that was refused. */
  private readonly refusals = new Map<string, ServiceRequest>();
  private isAccepted = false;
  private isSecond = false;
  /** The requests that were sent with their second token. */
  private readonly seconds = new WeakSet<ServiceRequest>();

  constructor(
    private readonly plan: TokenPlan,
    private readonly start: number,
    private readonly mustEnd: (end: ForcedEnd, request: ServiceRequest) => void,
  ) {}

  /** The provider, for the ledger's options. */
  readonly provide = (refusedToken?: string): Observable<string> => {
    const now = asyncScheduler.now();
    const { trouble, cachedMs } = this.plan;
    const refused = this.refusals.get(refusedToken ?? '');
    this.isSecond = false;
    if (this.isDown) return trouble?.kind === 'hangs' ? NEVER : throwError(() => new Error('secret'));
    if (now - this.issuedAt >= cachedMs) {
      this.count += 1;
      this.issuedAt = now;
    }
    const token = `token-${this.count}`;
    this.issued.set(token, this.issuedAt);
    this.isSecond = refused !== undefined;
    // a token that was accepted before may be accepted again
    if (refused?.token === token && !this.isAccepted) this.mustEnd({ error: { _tag: 'UnauthorizedError' } }, refused);
    return of(token);
  };

  /** Whether the provider returns no token now. */
  get isDown(): boolean {
    const { trouble } = this.plan;
    const ms = asyncScheduler.now() - this.start;
    return trouble !== null && ms >= trouble.fromMs && ms < trouble.fromMs + trouble.forMs;
  }

  /** The service's answer to a request whose token is not valid now. */
  refusalOf({ token }: ServiceRequest): Reply | undefined {
    const issuedAt = this.issued.get(token ?? '') ?? -Infinity;
    return asyncScheduler.now() - issuedAt < this.plan.validMs ? undefined : statuses[this.plan.refusal]?.();
  }

  /** A request has arrived, with the token that was issued last. */
  requestArrived(request: ServiceRequest): void {
    if (this.isSecond) this.seconds.add(request);
    this.isSecond = false;
  }

  /** An answer has reached the client. */
  delivered(request: ServiceRequest, reply: Reply): void {
    if (refusals.has(keyOf(reply))) {
      // a second token that is refused, too, is a failure to retry
      if (!this.seconds.has(request)) this.refusals.set(request.token ?? '', request);
    } else if (!(reply instanceof Error) && reply.status === 200 && isJson(reply.text)) this.isAccepted = true;
  }
}

/** A gap as the caller received it, and where it chose to continue; `undefined` where its choice must end the feed. */
export interface GapSeen extends Gap {
  readonly to: number | undefined;
}

/** An `onGap` that chooses as a schedule says, and reports its choice. */
export const gapHandler =
  (choice: GapChoice, ledger: VirtualLedger, report: (seen: GapSeen) => void) =>
  (gap: Gap): ObservableInput<number> => {
    const { cursor, error } = gap;
    const isPruned = error._tag === 'PrunedError';
    const offered = (isPruned ? error.earliestOffset : error.ledgerEnd) ?? ledger.end;
    const choose = (to: number): ObservableInput<number> => {
      report({ ...gap, to });
      return [to];
    };
    switch (choice) {
      case 'offered':
        return choose(offered);
      case 'ledger end':
        return choose(ledger.end);
      case 'later':
        return timer(3_000).pipe(concatMap(() => choose(offered)));
      case 'behind':
        // a ledger that was reset may be read from any offset
        if (!isPruned) return choose(Math.floor(ledger.end / 2));
        report({ ...gap, to: undefined });
        return [cursor];
      case 'nothing':
        report({ ...gap, to: undefined });
        return defer(() => []);
    }
  };
