import { Injectable, signal } from '@angular/core';

/** What only a sandbox can do; its server is the one that this page came from. */
@Injectable({ providedIn: 'root' })
export class SandboxControl {
  /** Whether the answer to the next submission will be lost. */
  readonly willLose = signal(false);
  /** Updates a second that the sandbox makes by itself, once that is known. */
  readonly traffic = signal<number | undefined>(undefined);

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

  /** Without a number it asks: another tab may have set it, or this one before a reload. */
  async setTraffic(perSecond?: number): Promise<void> {
    const answer = await send('traffic', { perSecond });
    this.traffic.set((answer as { readonly perSecond: number }).perSecond);
  }
}

async function send(command: string, body: Readonly<Record<string, unknown>>): Promise<unknown> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`control/${command}`, { method: 'POST', headers, body: JSON.stringify(body) });
  const answer: unknown = await response.json();
  if (response.ok) return answer;
  throw new Error((answer as { readonly error: string }).error);
}
