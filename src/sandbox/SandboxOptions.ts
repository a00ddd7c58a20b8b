import type { SchedulerLike } from 'rxjs';
import type { Sandbox } from './Sandbox.js';
import type { SandboxChanges } from './SandboxChanges.js';
import type { SandboxTemplate } from './templates/TemplateBody.js';

/**
 * Options of `startSandbox`.
 *
 * @category Sandbox
 */
export interface SandboxOptions extends SandboxChanges {
  /**
   * The TCP port on 127.0.0.1. With 0, the system chooses a port.
   *
   * @defaultValue 0
   */
  readonly port?: number;
  /**
   * Which web pages may send requests and open WebSockets: with `true`, the pages of this machine, at `localhost`,
   * `127.0.0.1` or `[::1]` with any port; with a list, the pages of these origins, such as `http://localhost:5173`. The
   * response to all others is a 403. A page that reaches the sandbox through the proxy of a development server
   * needs no permission, as long as the proxy keeps the `Host` header.
   *
   * @defaultValue false, no web pages
   */
  readonly cors?: boolean | readonly string[];
  /**
   * The synchronizers that the sandbox is connected to.
   *
   * @defaultValue two synchronizers
   */
  readonly synchronizers?: readonly string[];
  /**
   * The templates whose contracts the sandbox runs, made by `template`: with your signatories, observers, choices and
   * interfaces. A replica has those of its original. All other templates can be created and archived.
   *
   * @defaultValue none
   */
  readonly templates?: readonly SandboxTemplate[];
  /**
   * A sandbox whose history this one serves, too, as a second participant that hosts the same parties: with the same
   * updates, ids, record times and contracts, in the same order in each synchronizer. The offsets are other ones, and the
   * updates of different synchronizers have another order. What one of them commits, the others read a few milliseconds
   * later: `ledgerEnd` and `updates` do not wait for that. Each has its own completions, packages, pruning and faults, and
   * stays when another one is closed. The synchronizers are those of the original.
   *
   * @defaultValue a new history
   */
  readonly replicaOf?: Sandbox;
  /**
   * Chooses the offsets of a replica and the order of its synchronizers. A non-negative integer.
   *
   * @defaultValue the number of participants that the history has had, including this one
   */
  readonly replicaSeed?: number;
}

/**
 * Options of `createSandbox`.
 *
 * @category Sandbox
 */
export interface CreateSandboxOptions extends Omit<
  SandboxOptions,
  'port' | 'cors' | 'anyContentType' | 'webSocketIdleMs'
> {
  /**
   * Whose time is that of the sandbox: its timers, record times and deduplication. A `TestScheduler` or a
   * `VirtualTimeScheduler` makes it virtual, beginning at 1970-01-01. A replica has the time of its original.
   *
   * In virtual time nothing can wait for a Promise, and the encoding of prepared transactions consists of Promises. With this
   * option they are encoded and hashed otherwise: they can be signed and executed as usual, and `canton-rx/verify`
   * refuses them.
   *
   * @defaultValue the time of the machine
   */
  readonly scheduler?: SchedulerLike;
  /**
   * The time that each request takes to arrive, in milliseconds. With 0, a response that waits for nothing is emitted when
   * the client subscribes.
   *
   * @defaultValue 0
   */
  readonly latencyMs?: number;
}
