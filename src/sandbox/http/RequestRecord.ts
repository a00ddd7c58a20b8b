import type { SandboxRequest } from '../SandboxRequest.js';

/** A request of the log while it is being answered. */
export class RequestRecord implements SandboxRequest {
  body: unknown = undefined;
  status?: number;
  aborted = false;
  readonly at = Date.now();
  #settled = false;

  constructor(
    readonly method: string,
    readonly path: string,
    readonly query: Readonly<Record<string, string>>,
    readonly authorized: boolean,
  ) {}

  /** From here on, the end of the connection is no doing of the client. */
  settle(): void {
    this.#settled = true;
  }

  closed(): void {
    this.aborted = !this.#settled;
  }
}
