import { Injectable, signal } from '@angular/core';

/** What only a sandbox can do; its server is the one that this page came from. */
@Injectable({ providedIn: 'root' })
export class SandboxControl {
  /** Whether the answer to the next submission will be lost. */
  readonly willLose = signal(false);

  async host(hint: string, publicKey: string): Promise<void> {
    await send('party', { hint, publicKey });
  }

  async loseNextAnswer(): Promise<void> {
    await send('lose-answer', {});
    this.willLose.set(true);
  }

  async takeDown(downMs: number): Promise<void> {
    await send('restart', { downMs });
  }

  async generate(count: number): Promise<void> {
    await send('generate', { count });
  }

  async setTraffic(perSecond: number): Promise<void> {
    await send('traffic', { perSecond });
  }
}

async function send(command: string, body: Readonly<Record<string, unknown>>): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`control/${command}`, { method: 'POST', headers, body: JSON.stringify(body) });
  if (response.ok) return;
  const { error } = (await response.json()) as { readonly error: string };
  throw new Error(error);
}
