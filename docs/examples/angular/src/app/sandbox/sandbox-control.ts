import { Injectable, signal } from '@angular/core';

/** The controls of the sandbox, which the server of this page provides. */
@Injectable({ providedIn: 'root' })
export class SandboxControl {
  /** Whether the answer to the next submission will be lost. */
  readonly willLose = signal(false);
  /** The updates per second that the sandbox generates; `undefined` before the server has reported it. */
  readonly traffic = signal<number | undefined>(undefined);

  async host(hint: string, publicKey: string): Promise<void> {
    await send('party', { hint, publicKey });
  }

  /** Hosts a party that the sandbox signs for. Returns its id. */
  async hostParty(hint: string): Promise<string> {
    const answer = await send('hosted-party', { hint });
    return (answer as { readonly party: string }).party;
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

  /** Without a number, reads the current traffic, which another tab may have set, or this one before a reload. */
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
