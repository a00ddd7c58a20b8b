/**
 * What an error of the ledger proves about an attempt of a submission:
 *
 * - `committed`: the ledger has committed the change, in this attempt or in an earlier one.
 * - `rejected`: the attempt was registered and failed. No earlier attempt was in flight or committed at that time.
 * - `refused`: the attempt has committed nothing. That says nothing about earlier attempts.
 * - `expired`: the same, because the signed bytes are outside their time bounds.
 * - `inFlight`: another attempt is in flight.
 * - `pruned`: the deduplication period begins before the data that the participant still has.
 * - `notSent`: the attempt did not reach the participant.
 * - `unknown`: the attempt may have been committed, or may still be.
 */
export type Outcome = 'committed' | 'rejected' | 'refused' | 'expired' | 'inFlight' | 'pruned' | 'notSent' | 'unknown';

/**
 * How often the same change is sent again after an error. `whileOpen`: as long as an earlier attempt may have been committed,
 * because the state of the participant, which refused this one, may change.
 */
export type Again = 'always' | 'thrice' | 'twice' | 'whileOpen' | 'never';

/** What an error proves, and how often the same change is sent again. */
export interface Proof {
  readonly outcome: Outcome;
  readonly again: Again;
}

/** The kinds of submissions: bytes that a party has signed, and commands of hosted parties. */
export type Kind = 'signed' | 'hosted';

/** A code of the ledger whose meaning is not that of its category. */
interface CodeMeaning extends Readonly<Record<Kind, Proof>> {
  /** Whether the cause concerns this submission, or all submissions at the participant. */
  readonly concerns: 'one' | 'all';
  /** Where the meaning is from. */
  readonly source: string;
}

const proof = (outcome: Outcome, again: Again): Proof => ({ outcome, again });

const both = (outcome: Outcome, again: Again, source: string): CodeMeaning => ({
  signed: proof(outcome, again),
  hosted: proof(outcome, again),
  concerns: 'one',
  source,
});

/** The attempt was registered, and failed. Another participant at the same address may have committed signed bytes. */
const verdict = (signed: Again, hosted: Again, source: string): CodeMeaning => ({
  signed: proof('refused', signed),
  hosted: proof('rejected', hosted),
  concerns: 'one',
  source,
});

/** The signed bytes are late; commands get other times. */
const late = (hosted: Proof, source: string): CodeMeaning => ({
  signed: proof('expired', 'never'),
  hosted,
  concerns: 'one',
  source,
});

/** Commands are interpreted before they are registered, and signed bytes maybe after an earlier attempt of them was. */
const beforeRegistration = (source: string): CodeMeaning => ({
  signed: proof('unknown', 'always'),
  hosted: proof('refused', 'always'),
  concerns: 'one',
  source,
});

/** Names in a format, which are looked up before commands are registered, and also when the transaction is read. */
const aboutNames: CodeMeaning = {
  signed: proof('unknown', 'always'),
  hosted: proof('refused', 'never'),
  concerns: 'one',
  source: 'CommandServiceImpl: the transaction is read after the commit, in the requested format',
};

const busy: CodeMeaning = {
  ...both('refused', 'always', 'back-pressure, before any work'),
  concerns: 'all',
};

const forAll = (meaning: CodeMeaning): CodeMeaning => ({ ...meaning, concerns: 'all' });

const inFlightCheck = 'InFlightSubmissionTracker: registration over all synchronizers, before the submission';
const sequencing = 'ProtocolProcessor: sent to the sequencer after the registration, and completed';
const confirmation = 'verdict of the mediator or of a confirming participant, after the registration';
const reading = 'CommandServiceImpl: the transaction is read after the commit';

/**
 * The codes of releases 3.3 to 3.6 whose meaning is not that of their category.
 *
 * @internal
 */
export const codeMeanings: Readonly<Record<string, CodeMeaning>> = {
  DUPLICATE_COMMAND: both('committed', 'never', 'CommandDeduplicator: the change is committed at completion_offset'),
  SUBMISSION_ALREADY_IN_FLIGHT: both('inFlight', 'always', inFlightCheck),
  INVALID_DEDUPLICATION_PERIOD: both('pruned', 'never', 'CommandDeduplicator: earliest_offset is the first usable one'),
  // after the commit, or while the submission continues
  REQUEST_TIMEOUT: both('unknown', 'always', 'HTTP layer since 3.6.1: the submission continues'),
  UPDATE_NOT_FOUND: both('unknown', 'always', reading),
  PACKAGE_NAMES_NOT_FOUND: aboutNames,
  TEMPLATES_OR_INTERFACES_NOT_FOUND: aboutNames,
  NO_TEMPLATES_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME: aboutNames,
  NO_INTERFACE_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME: aboutNames,
  // times
  LOCAL_VERDICT_LEDGER_TIME_OUT_OF_BOUND: late(proof('rejected', 'always'), confirmation),
  LOCAL_VERDICT_PREPARATION_TIME_OUT_OF_BOUND: late(proof('rejected', 'never'), confirmation),
  LOCAL_VERDICT_MAX_RECORD_TIME_EXCEEDED: late(proof('rejected', 'never'), confirmation),
  LEDGER_TIME_OUTSIDE_BOUNDS: late(proof('refused', 'never'), 'interpretation, before the registration'),
  // contracts: what is locked may be used up by now
  LOCAL_VERDICT_LOCKED_CONTRACTS: verdict('always', 'thrice', confirmation),
  // the synchronizer
  LOCAL_VERDICT_TIMEOUT: verdict('always', 'always', confirmation),
  MEDIATOR_SAYS_TX_TIMED_OUT: verdict('always', 'always', confirmation),
  NOT_SEQUENCED_TIMEOUT: verdict('always', 'always', sequencing),
  MEDIATOR_INVALID_MESSAGE: verdict('thrice', 'thrice', 'mediator; each attempt costs traffic'),
  SEQUENCER_BACKPRESSURE: forAll(verdict('always', 'always', sequencing)),
  SEQUENCER_REQUEST_FAILED: verdict('thrice', 'thrice', `${sequencing}; may be too large, which stays`),
  SEQUENCER_NOT_ENOUGH_TRAFFIC_CREDIT: forAll(verdict('whileOpen', 'never', `${sequencing}; until it is topped up`)),
  TRAFFIC_ACCOUNT_VALIDATION_FAILED: {
    signed: proof('refused', 'whileOpen'),
    hosted: proof('refused', 'never'),
    concerns: 'all',
    source: 'the account that pays for the traffic, since 3.5.7; until it is topped up',
  },
  SEQUENCER_MAX_SEQUENCING_TIME_TOO_FAR: verdict(
    'always',
    'always',
    `${sequencing}; the next attempt has another time`,
  ),
  OUTDATED_TRAFFIC_COST: verdict('always', 'always', `${sequencing}; the next attempt has another cost`),
  // the participant
  PARTICIPANT_BACKPRESSURE: busy,
  PARTICIPANT_OVERLOADED: busy,
  SEQUENCER_OVERLOADED: busy,
  SERVER_OVERLOADED: busy,
  MAXIMUM_NUMBER_OF_STREAMS: busy,
  HEAP_MEMORY_OVER_LIMIT: busy,
  THREADPOOL_OVERLOADED: busy,
  INTERPRETATION_TIME_EXCEEDED: beforeRegistration('interpretation'),
  FAILED_TO_DETERMINE_LEDGER_TIME: beforeRegistration('interpretation'),
  NO_VIEW_WITH_VALID_RECIPIENTS: beforeRegistration('routing'),
  CHOSEN_MEDIATOR_IS_INACTIVE: beforeRegistration('routing'),
};

/** Verdicts of newer releases. A malformed request hides its reason. */
const newVerdict = /^(LOCAL_VERDICT_(?!MALFORMED)|MEDIATOR_SAYS_)/;

/** Returns the meaning of a code if it is not that of its category. */
export const meaningOf = (code: string): CodeMeaning | undefined => {
  if (Object.hasOwn(codeMeanings, code)) return codeMeanings[code];
  return newVerdict.test(code) ? verdict('never', 'never', confirmation) : undefined;
};

/** Whether an error is about names in a format that the participant does not know. */
export const isAboutNames = (code = ''): boolean => meaningOf(code) === aboutNames;
