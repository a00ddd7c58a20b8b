import { Ledger } from '../ledger/Ledger.js';
import { Deduplication } from '../submission/Deduplication.js';
import { HostedParties } from '../submission/HostedParties.js';
import type { Settings } from './Settings.js';

/** The state of the service: what it is set to, its ledger, its parties and the commands that it remembers. */
export class Participant {
  readonly ledger = new Ledger();
  readonly hosted = new HostedParties();
  readonly deduplication = new Deduplication();

  constructor(readonly settings: Settings) {}
}
