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
  checkNotNegative({ port: options.port, replicaSeed: options.replicaSeed }, true);
  const original = findOriginal(options.replicaOf);
  const settings = new Settings({ ...options, ...(original && { synchronizers: original.synchronizers }) });
  const participant = new Participant(settings, original?.participant, options.replicaSeed);
  const { ledger, hosted, pending, faults, log, inbox } = participant;
  const { synchronizers } = settings;
  let traffic = original?.traffic() ?? new TrafficState();
  const { url, restart, close } = await startServer(options.port ?? 0, participant).catch((error: unknown) => {
    participant.leave();
    throw error;
  });
  const stop = (): Promise<void> => {
    pending.clear();
    inbox.clear();
    participant.leave();
    return close();
  };
  const sandbox: Sandbox = {
    url,
    close: stop,
    [Symbol.asyncDispose]: stop,
    get ledgerEnd() {
      inbox.settle();
      return ledger.end;
    },
    get participantId() {
      return settings.participantId;
    },
    get parties() {
      return hosted.all;
    },
    get updates() {
      inbox.settle();
      return ledger.updates;
    },
    get unread() {
      inbox.settle();
      return inbox.size;
    },
    synchronizers,
    requests: log,
    append(...updates) {
      const entries = updates.map((update) => ({ update }));
      participant.commit(completeUpdates(entries, participant));
      return ledger.end;
    },
    generate(count, generateOptions = {}) {
      checkNotNegative({ count, seed: generateOptions.seed }, true);
      participant.commit(completeUpdates(generate(count, generateOptions, participant, traffic), participant));
      return ledger.end;
    },
    advance(offsets) {
      ledger.advance(offsets);
      return ledger.end;
    },
    prune: (upToInclusive) => {
      ledger.prune(upToInclusive);
    },
    pause: () => {
      inbox.pause();
    },
    resume(count) {
      checkNotNegative({ count }, true);
      inbox.resume(count);
      return ledger.end;
    },
    restore(ledgerEnd, { readAgain = false, offsets = synchronizers.length > 1 ? 'other' : 'same' } = {}) {
      if (readAgain) {
        participant.restoreAndRead(ledgerEnd, offsets);
        return;
      }
      if (participant.isShared) traffic = traffic.copy();
      participant.restore(ledgerEnd);
      traffic.restore(ledger);
    },
    uploadPackage: (packageName, entities) => ledger.packages.upload(packageName, entities),
    addInterface: (templateId, interfaceId, view = () => ({})) =>
      ledger.packages.addInstance(templateId, interfaceId, view),
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
  originals.set(sandbox, { participant, synchronizers, traffic: () => traffic });
  return sandbox;
}

/** What a replica shares with its original. */
interface Original {
  readonly participant: Participant;
  readonly synchronizers: readonly string[];
  readonly traffic: () => TrafficState;
}

const originals = new WeakMap<Sandbox, Original>();

function findOriginal(sandbox: Sandbox | undefined): Original | undefined {
  const original = sandbox && originals.get(sandbox);
  if (sandbox !== undefined && original === undefined) throw new TypeError('replicaOf must be a started sandbox');
  return original;
}
