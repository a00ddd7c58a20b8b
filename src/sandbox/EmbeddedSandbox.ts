import { checkNotNegative } from '../codecs/internal/numbers.js';
import type { HttpPort } from '../http/HttpPort.js';
import type { SocketPort } from '../ws/SocketPort.js';
import type { Fault, FaultScope } from './faults/Fault.js';
import { completeUpdates } from './ledger/append.js';
import type { PackageEntities } from './ledger/PackageEntities.js';
import { Participant } from './participant/Participant.js';
import { externalPartyMethod } from './participant/parties.js';
import { Settings } from './participant/Settings.js';
import { Door } from './port/Door.js';
import { requestPort } from './port/requestPort.js';
import { socketPort } from './port/socketPort.js';
import type { RestartOptions, RestoreOptions, Sandbox } from './Sandbox.js';
import type { SandboxChanges } from './SandboxChanges.js';
import type { CreateSandboxOptions } from './SandboxOptions.js';
import type { SandboxRequest } from './SandboxRequest.js';
import type { SandboxTemplate } from './templates/TemplateBody.js';
import type { GenerateOptions } from './traffic/GenerateOptions.js';
import { generate } from './traffic/generate.js';
import type { WireUpdate, WireUpdateInput } from './wire/WireUpdate.js';

/** A participant in this process, and its door. */
export class EmbeddedSandbox implements Sandbox {
  readonly url: string = 'http://sandbox.test';
  readonly port: HttpPort;
  readonly socketPort: SocketPort;
  readonly externalParty: Sandbox['externalParty'];
  readonly participant: Participant;
  protected readonly door: Door;

  constructor({ replicaOf, replicaSeed, scheduler, latencyMs = 0, templates, ...options }: CreateSandboxOptions) {
    checkNotNegative({ replicaSeed }, true);
    checkNotNegative({ latencyMs });
    if (replicaOf !== undefined && !(replicaOf instanceof EmbeddedSandbox))
      throw new TypeError('replicaOf must be a sandbox');
    const settings = new Settings({ ...options, ...(replicaOf && { synchronizers: replicaOf.synchronizers }) });
    const origin = { original: replicaOf?.participant, scheduler, seed: replicaSeed, templates };
    this.participant = new Participant(settings, origin);
    this.door = new Door(this.participant);
    this.port = requestPort(this.participant, this.door, latencyMs);
    this.socketPort = socketPort(this.participant, this.door, latencyMs);
    this.externalParty = externalPartyMethod(this.participant.hosted);
  }

  get ledgerEnd(): number {
    this.participant.inbox.settle();
    return this.participant.ledger.end;
  }

  get participantId(): string {
    return this.participant.settings.participantId;
  }

  get parties(): readonly string[] {
    return this.participant.hosted.all;
  }

  get updates(): readonly WireUpdate[] {
    this.participant.inbox.settle();
    return this.participant.ledger.updates;
  }

  get unread(): number {
    this.participant.inbox.settle();
    return this.participant.inbox.size;
  }

  get synchronizers(): readonly string[] {
    return this.participant.settings.synchronizers;
  }

  get requests(): readonly SandboxRequest[] {
    return this.participant.log;
  }

  append(...updates: readonly WireUpdateInput[]): number {
    const entries = updates.map((update) => ({ update }));
    this.participant.commit(completeUpdates(entries, this.participant));
    return this.participant.ledger.end;
  }

  generate(count: number, options: GenerateOptions = {}): number {
    checkNotNegative({ count, seed: options.seed }, true);
    this.participant.commit(completeUpdates(generate(count, options, this.participant), this.participant));
    return this.participant.ledger.end;
  }

  advance(offsets: number): number {
    this.participant.ledger.advance(offsets);
    return this.participant.ledger.end;
  }

  prune(upToInclusive: number): void {
    this.participant.ledger.prune(upToInclusive);
  }

  pause(): void {
    this.participant.inbox.pause();
  }

  resume(count?: number): number {
    checkNotNegative({ count }, true);
    this.participant.inbox.resume(count);
    return this.participant.ledger.end;
  }

  restore(ledgerEnd: number, { readAgain = false, offsets, forgetsCommands = false }: RestoreOptions = {}): void {
    const byDefault = this.synchronizers.length > 1 ? 'other' : 'same';
    if (readAgain) this.participant.restoreAndRead(ledgerEnd, offsets ?? byDefault, forgetsCommands);
    else this.participant.restore(ledgerEnd);
  }

  uploadPackage(packageName: string, entities?: PackageEntities): string {
    return this.participant.ledger.packages.upload(packageName, entities);
  }

  addInterface(
    templateId: string,
    interfaceId: string,
    view: (createArgument: unknown) => unknown = () => ({}),
  ): string {
    return this.participant.ledger.packages.addInstance(templateId, interfaceId, view);
  }

  uploadTemplates(...templates: readonly SandboxTemplate[]): readonly string[] {
    return this.participant.models.define(templates);
  }

  fault(fault: Fault, where?: FaultScope): void {
    this.participant.faults.add(fault, where);
  }

  configure(changes: SandboxChanges): void {
    this.participant.settings.change(changes);
  }

  restart({ downMs = 0, whileDown, ...changes }: RestartOptions = {}): Promise<void> {
    checkNotNegative({ downMs });
    this.configure(changes);
    return this.goDown(downMs, whileDown);
  }

  hostedParty(hint: string): string {
    return this.participant.hosted.allocate(hint, this.participantId);
  }

  close(): Promise<void> {
    const { pending, inbox } = this.participant;
    pending.clear();
    inbox.clear();
    this.participant.leave();
    this.door.close();
    return Promise.resolve();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Stops and starts again. */
  protected goDown(downMs: number, whileDown?: () => void): Promise<void> {
    return this.door.restart(downMs, whileDown);
  }
}
