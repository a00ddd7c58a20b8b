import { checkNotNegative } from '../codecs/internal/numbers.js';
import { EmbeddedSandbox } from './EmbeddedSandbox.js';
import { type RunningServer, startServer } from './http/server.js';
import type { Sandbox } from './Sandbox.js';
import type { SandboxOptions } from './SandboxOptions.js';

/**
 * Starts an embedded participant on 127.0.0.1, for tests and demos. It serves the JSON Ledger API over HTTP and
 * WebSockets from a ledger in memory, like a participant of the chosen release. It verifies signatures.
 *
 * @example
 * ```ts
 * import { startSandbox } from 'canton-rx/sandbox';
 *
 * const sandbox = await startSandbox();
 * sandbox.generate(100);
 * sandbox.fault({ kind: 'reset' });
 * // … point a ledger client at sandbox.url
 * await sandbox.close();
 * ```
 * @category Sandbox
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const { port = 0 } = options;
  checkNotNegative({ port }, true);
  const sandbox = new ServedSandbox(options);
  try {
    await sandbox.listen(port);
  } catch (error) {
    sandbox.participant.leave();
    throw error;
  }
  return sandbox;
}

/** A participant with a server. */
class ServedSandbox extends EmbeddedSandbox {
  override url = '';
  #server: RunningServer | undefined;

  async listen(port: number): Promise<void> {
    this.#server = await startServer(port, this.participant);
    this.url = this.#server.url;
  }

  override async close(): Promise<void> {
    await super.close();
    await this.#server?.close();
  }

  protected override async goDown(downMs: number, whileDown?: () => void): Promise<void> {
    await this.#server?.restart(downMs, () => {
      this.door.shut();
      whileDown?.();
    });
    this.door.open();
  }
}
