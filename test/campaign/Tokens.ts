import { asyncScheduler, NEVER, of, throwError, type Observable } from 'rxjs';
import type { Asked, Reply } from '../helpers/scripted.js';
import type { ForcedEnd } from './forcedEnd.js';
import type { TokenPlan } from './Schedule.js';
import { refusing, statuses } from './statuses.js';

const refusals = new Set(Object.values(refusing).map((reply) => textOf(reply())));

/** A provider of tokens and the service that looks at them; says when a feed must end for the lack of a good one. */
export class Tokens {
  private count = 0;
  private issuedAt = -Infinity;
  private readonly issued = new Map<string, number>();
  /** Of one request: its first token was refused, or it is sent for the second time. */
  private state: 'first' | 'refused' | 'second' = 'first';
  private given = '';

  constructor(
    private readonly plan: TokenPlan,
    private readonly start: number,
    private readonly mustEnd: (end: ForcedEnd) => void,
  ) {}

  /** For the ledger's options. */
  readonly provide = (): Observable<string> => {
    const now = asyncScheduler.now();
    const { trouble, cachedMs } = this.plan;
    const ms = now - this.start;
    if (trouble !== null && ms >= trouble.fromMs && ms < trouble.fromMs + trouble.forMs) {
      this.state = 'first';
      return trouble.kind === 'hangs' ? NEVER : throwError(() => new Error('secret'));
    }
    if (now - this.issuedAt >= cachedMs) {
      this.count += 1;
      this.issuedAt = now;
    }
    const token = `token-${this.count}`;
    this.issued.set(token, this.issuedAt);
    if (this.state === 'refused' && token === this.given) this.mustEnd({ error: { _tag: 'UnauthorizedError' } });
    this.state = this.state === 'refused' ? 'second' : 'first';
    this.given = token;
    return of(token);
  };

  /** What the service says to the token of a request, if that is not good now. */
  refusalOf({ token }: Asked): Reply | undefined {
    const issuedAt = this.issued.get(token ?? '') ?? -Infinity;
    return asyncScheduler.now() - issuedAt < this.plan.validMs ? undefined : statuses[this.plan.refusal]?.();
  }

  /** An answer has reached the client. */
  delivered(reply: Reply): void {
    if (!refusals.has(textOf(reply))) return;
    if (this.state === 'second') this.mustEnd({ error: { _tag: 'UnauthorizedError' } });
    this.state = 'refused';
  }
}

function textOf(reply: Reply): string {
  return reply instanceof Error ? 'error' : `${reply.status} ${reply.text}`;
}
