import { checkNotNegative } from '../codecs/internal/field.js';
import { startServer } from './http/server.js';
import { completeUpdates } from './ledger/append.js';
import { Participant } from './participant/Participant.js';
import { externalPartyMethod } from './participant/parties.js';
import { Settings } from './participant/Settings.js';
import type { Sandbox, SandboxOptions } from './Sandbox.js';
import { generate } from './traffic/generate.js';
import { TrafficState } from './traffic/TrafficState.js';

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
  checkNotNegative({ port: options.port }, true);
  const settings = new Settings(options);
  const participant = new Participant(settings);
  const { ledger, hosted, completions, pending, faults, log } = participant;
  const { synchronizers } = settings;
  const traffic = new TrafficState();
  const { url, restart, close } = await startServer(options.port ?? 0, participant);
  const stop = (): Promise<void> => {
    pending.clear();
    return close();
  };
  return {
    url,
    close: stop,
    [Symbol.asyncDispose]: stop,
    get ledgerEnd() {
      return ledger.end;
    },
    get parties() {
      return hosted.all;
    },
    updates: ledger.updates,
    synchronizers,
    requests: log,
    append(...updates) {
      const entries = updates.map((update) => ({ update }));
      ledger.commit(completeUpdates(entries, participant));
      return ledger.end;
    },
    generate(count, generateOptions = {}) {
      checkNotNegative({ count, seed: generateOptions.seed }, true);
      ledger.commit(completeUpdates(generate(count, generateOptions, participant, traffic), participant));
      return ledger.end;
    },
    advance(offsets) {
      ledger.advance(offsets);
      return ledger.end;
    },
    prune: (upToInclusive) => {
      ledger.prune(upToInclusive);
    },
    restore(ledgerEnd) {
      ledger.restore(ledgerEnd);
      completions.restore(ledgerEnd);
      traffic.restore(ledger);
    },
    uploadPackage: (packageName, entities) => ledger.packages.upload(packageName, entities),
    fault: (fault, where) => {
      faults.add(fault, where);
    },
    configure: (changes) => {
      settings.change(changes);
    },
    restart({ downMs = 0, whileDown, ...changes } = {}) {
      checkNotNegative({ downMs });
      settings.change(changes);
      return restart(downMs, whileDown);
    },
    hostedParty: (hint) => hosted.allocate(hint, settings.participantId),
    externalParty: externalPartyMethod(hosted),
  };
}
