import { asyncScheduler, NEVER, of, throwError, type Observable } from 'rxjs';
import type { Asked, Reply } from '../../helpers/scripted.js';
import type { ForcedEnd } from './forcedEnd.js';
import type { TokenPlan } from './Schedule.js';
import { refusing, statuses } from './statuses.js';

const refusals = new Set(Object.values(refusing).map((reply) => textOf(reply())));

/** A provider of tokens and the service that looks at them; says when a feed must end for the lack of a good one. */
export class Tokens {
  private count = 0;
  private issuedAt = -Infinity;
  private readonly issued = new Map<string, number>();
  /** The request whose first token has just been refused: who asks for a token now asks for its second. */
  private refused: Asked | undefined;
  private isSecond = false;
  /** Those that were sent with their second token. */
  private readonly seconds = new WeakSet<Asked>();

  constructor(
    private readonly plan: TokenPlan,
    private readonly start: number,
    private readonly mustEnd: (end: ForcedEnd, asked: Asked) => void,
  ) {}

  /** For the ledger's options. */
  readonly provide = (): Observable<string> => {
    const now = asyncScheduler.now();
    const { trouble, cachedMs } = this.plan;
    const ms = now - this.start;
    if (trouble !== null && ms >= trouble.fromMs && ms < trouble.fromMs + trouble.forMs) {
      this.refused = undefined;
      this.isSecond = false;
      return trouble.kind === 'hangs' ? NEVER : throwError(() => new Error('secret'));
    }
    if (now - this.issuedAt >= cachedMs) {
      this.count += 1;
      this.issuedAt = now;
    }
    const token = `token-${this.count}`;
    this.issued.set(token, this.issuedAt);
    const { refused } = this;
    this.isSecond = refused !== undefined;
    this.refused = undefined;
    if (refused?.token === token) this.mustEnd({ error: { _tag: 'UnauthorizedError' } }, refused);
    return of(token);
  };

  /** What the service says to the token of a request, if that is not good now. */
  refusalOf({ token }: Asked): Reply | undefined {
    const issuedAt = this.issued.get(token ?? '') ?? -Infinity;
    return asyncScheduler.now() - issuedAt < this.plan.validMs ? undefined : statuses[this.plan.refusal]?.();
  }

  /** A request has come, with the token that was given last. */
  asked(asked: Asked): void {
    if (this.isSecond) this.seconds.add(asked);
    this.isSecond = false;
  }

  /** An answer has reached the client. */
  delivered(asked: Asked, reply: Reply): void {
    if (!refusals.has(textOf(reply))) return;
    if (this.seconds.has(asked)) this.mustEnd({ error: { _tag: 'UnauthorizedError' } }, asked);
    else this.refused = asked;
  }
}

function textOf(reply: Reply): string {
  return reply instanceof Error ? 'error' : `${reply.status} ${reply.text}`;
}
