import type { KeyObject } from 'node:crypto';
import { generatedParties } from '../traffic/generatedParties.js';

/** The parties of this participant; the external ones with their public keys. */
export class HostedParties {
  readonly #keys = new Map<string, KeyObject>();

  get all(): readonly string[] {
    return [...generatedParties, ...this.#keys.keys()];
  }

  add(party: string, publicKey: KeyObject): void {
    this.#keys.set(party, publicKey);
  }

  keyOf(party: string): KeyObject | undefined {
    return this.#keys.get(party);
  }
}
