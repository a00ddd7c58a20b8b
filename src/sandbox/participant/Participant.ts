import { Ledger } from '../ledger/Ledger.js';
import { Deduplication } from '../submission/Deduplication.js';
import { HostedParties } from '../submission/HostedParties.js';
import { PendingCommits } from '../submission/PendingCommits.js';
import type { Settings } from './Settings.js';

/** The state of the service: what it is set to, its ledger, its parties and the commands that it remembers or has under way. */
export class Participant {
  readonly ledger = new Ledger();
  readonly hosted = new HostedParties();
  readonly deduplication = new Deduplication();
  readonly pending = new PendingCommits();

  constructor(readonly settings: Settings) {}
}
