import type { Offset } from '../codecs/scalars.js';
import type { SubmittedTransaction } from '../codecs/Transaction.js';
import type { Entry, Submission } from './Entry.js';
import type { Memory } from './Memory.js';
import type { Rule } from './Rule.js';

/** What is known of the effects of a rule's actions: which archive their contract, and what the participant has forgotten. */
export class Effects {
  /** Whether the choices of the actions so far have always archived their contract. */
  readonly #archiving = new Map<string, boolean>();
  #earliest: Offset = 0;

  constructor(
    private readonly rule: Rule,
    private readonly memory: Memory,
  ) {}

  /** The smallest offset from which the participant recognizes repetitions, as far as it is known. */
  get earliest(): Offset {
    return this.#earliest;
  }

  /** The participant is pruned up to an offset. */
  forget(earliest: Offset): void {
    this.#earliest = Math.max(this.#earliest, earliest);
  }

  /** Whether the action archives its contract, as far as that is known. */
  consumes({ contract }: Entry, { request }: Submission): boolean {
    if (this.rule.consumes !== undefined) return this.rule.consumes;
    const choice = choiceOn(contract.contractId, request);
    return choice !== undefined && (choice.endsWith(':Archive') || this.#archiving.get(choice) === true);
  }

  /** Notes whether a choice has archived its contract. If the transaction had other commands, they may have. */
  learn({ contract: { contractId } }: Entry, { request }: Submission, { events }: SubmittedTransaction): void {
    const choice = choiceOn(contractId, request);
    if (choice === undefined || request.commands.length > 1) return;
    const isArchived = events.some((event) => event._tag === 'ArchivedEvent' && event.contractId === contractId);
    this.#archiving.set(choice, isArchived && this.#archiving.get(choice) !== false);
  }

  /**
   * Whether no earlier run can have committed the action before the earliest offset from which the participant recognizes
   * repetitions. Otherwise, only a period since the beginning is safe: it lets a participant that is pruned accept nothing new.
   */
  isSafe(entry: Entry, submission: Submission): boolean {
    // contracts that are still active, or that show no effect of the action, prove that it was not committed
    if (this.consumes(entry, submission)) return true;
    if (this.rule.done !== undefined && submission.decidedAt >= this.#earliest) return true;
    return (
      (entry.createdOffset ?? -1) >= this.#earliest ||
      this.memory.excludes(submission.request.commandId, this.#earliest)
    );
  }
}

/** The template and the choice that a request exercises on a contract; `undefined` unless it is exactly one. */
function choiceOn(contractId: string, { commands }: Submission['request']): string | undefined {
  const choices = commands.flatMap((command) =>
    'ExerciseCommand' in command && command.ExerciseCommand.contractId === contractId
      ? [`${command.ExerciseCommand.templateId}:${command.ExerciseCommand.choice}`]
      : [],
  );
  return choices.length === 1 ? choices[0] : undefined;
}
