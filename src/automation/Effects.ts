import type { Offset } from '../codecs/scalars.js';
import type { SubmittedTransaction } from '../codecs/Transaction.js';
import type { Entry, Submission } from './Entry.js';
import type { Memory } from './Memory.js';
import type { Rule } from './Rule.js';

/** What is known of the effects of a rule's actions: which archive their contract, and what the participant has forgotten. */
export class Effects {
  /** Whether the choices of the actions so far have always archived their contract. */
  readonly #archiving = new Map<string, boolean>();
  #earliest: { readonly offset: Offset; readonly moves: number } = { offset: 0, moves: 0 };

  /** @param movesOf - how often the contracts have continued at other offsets, at which earlier ones mean nothing */
  constructor(
    private readonly rule: Rule,
    private readonly memory: Memory,
    private readonly movesOf: () => number = () => 0,
  ) {}

  /** The smallest offset from which the participant recognizes repetitions, as far as it is known. */
  get earliest(): Offset {
    const { offset, moves } = this.#earliest;
    return moves === this.movesOf() ? offset : 0;
  }

  /** The participant is pruned up to an offset. */
  forget(earliest: Offset): void {
    this.#earliest = { offset: Math.max(this.earliest, earliest), moves: this.movesOf() };
  }

  /** Whether the action archives its contract, as far as that is known. */
  consumes({ contract }: Entry, { request }: Submission): boolean {
    if (this.rule.consumes !== undefined) return this.rule.consumes;
    const choice = choiceOn(contract.contractId, request);
    return choice !== undefined && (choice.endsWith(':Archive') || this.#archiving.get(choice) === true);
  }

  /**
   * Notes whether a choice has archived its contract. If the transaction had other commands, they may have. Returns whether it is
   * the first that shows that the choice does.
   */
  learn({ contract: { contractId } }: Entry, { request }: Submission, { events }: SubmittedTransaction): boolean {
    const choice = choiceOn(contractId, request);
    if (choice === undefined || request.commands.length > 1) return false;
    const isArchived = events.some((event) => event._tag === 'ArchivedEvent' && event.contractId === contractId);
    const isFirst = !this.#archiving.has(choice);
    this.#archiving.set(choice, isArchived && this.#archiving.get(choice) !== false);
    return isFirst && isArchived;
  }

  /** Whether it depends on the creation of the contract, which is not known, whether the action is safe. */
  needsCreation(entry: Entry, submission: Submission): boolean {
    return this.earliest > 0 && !entry.isCreationKnown && !this.isSafe(entry, submission);
  }

  /**
   * Whether no earlier run can have committed the action before the earliest offset from which the participant recognizes
   * repetitions. Otherwise, only a period since the beginning is safe: it lets a participant that is pruned accept nothing new.
   */
  isSafe(entry: Entry, submission: Submission): boolean {
    // contracts that are still active, or that show no effect of the action, prove that it was not committed
    if (this.consumes(entry, submission)) return true;
    const { earliest } = this;
    if (this.rule.done !== undefined && submission.decidedAt >= earliest) return true;
    if ((entry.createdOffset ?? -1) >= earliest) return true;
    return this.memory.excludes(submission.request.commandId, earliest, this.movesOf());
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
