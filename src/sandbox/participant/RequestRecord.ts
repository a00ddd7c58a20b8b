import type { SandboxRequest } from '../SandboxRequest.js';

/** A request in the log. */
export class RequestRecord implements SandboxRequest {
  body: unknown = undefined;
  status?: number;
  aborted = false;
  #settled = false;

  constructor(
    readonly method: string,
    readonly path: string,
    readonly query: Readonly<Record<string, string>>,
    readonly authorized: boolean,
    readonly at: number,
  ) {}

  /** From now on, a closed connection does not count as aborted by the client. */
  settle(): void {
    this.#settled = true;
  }

  onClose(): void {
    this.aborted = !this.#settled;
  }
}
