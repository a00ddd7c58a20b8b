/**
 * Why the ledger refused a submission, and what helps:
 *
 * - `contention`: another transaction uses the same contracts at the moment, or a contract is in flight to another synchronizer.
 *   Read the contracts again, and submit again.
 * - `inactiveContract`: a contract of the commands is archived or unknown. Read the contracts again.
 * - `refusal`: the Daml model refused the commands, for example by a failed assertion.
 * - `authorization`: the token, the parties of `actAs` or the signatures do not suffice.
 * - `packages`: a package is unknown, or a participant of the transaction has not vetted it.
 * - `traffic`: the participant has too little traffic. Pause all submissions until it is topped up.
 * - `backPressure`: the participant or the synchronizer is overloaded. Submit less at a time.
 * - `topology`: no synchronizer connects all parties and contracts, at the moment or for good.
 * - `timeout`: the transaction was not sequenced or confirmed, or not in time. Submit it again, later.
 * - `invalid`: the commands are malformed, such as an argument of the wrong type.
 * - `other`: anything else; see the code.
 *
 * @category Errors
 */
export type RejectionReason =
  | 'contention'
  | 'inactiveContract'
  | 'refusal'
  | 'authorization'
  | 'packages'
  | 'traffic'
  | 'backPressure'
  | 'topology'
  | 'timeout'
  | 'invalid'
  | 'other';

/** Returns why the ledger refused a submission: by its code, then by its category. */
export function rejectionReason(error: Facts): RejectionReason {
  const { code = '', errorCategory = 0, status } = error;
  // its code is that of a token, but there is none
  if (isUndecodedRequest(error) || lacksUser(error)) return 'invalid';
  if (code === 'UNKNOWN_CONTRACT_SYNCHRONIZERS') return saysArchived(error) ? 'inactiveContract' : 'contention';
  const byCode = patterns.find(([, pattern]) => pattern.test(code))?.[0];
  if (byCode !== undefined) return byCode;
  if (errorCategory === 6 || errorCategory === 7 || status === 401 || status === 403) return 'authorization';
  if (status === 429) return 'backPressure';
  const isInvalid = errorCategory === 8 || (errorCategory === 0 && (status === 400 || status === 413));
  return isInvalid ? 'invalid' : 'other';
}

/**
 * Whether a participant that does not know the synchronizer of contracts says that some are archived. If not, they are in flight
 * to another synchronizer, or their synchronizer is not connected.
 */
const saysArchived = ({ context = {}, reason = '' }: Facts): boolean =>
  !/^(?:\w*[([{]\s*[)\]}])?$/.test((context['archived'] ?? '').trim()) || /\barchived: *\w+\((?!\))/.test(reason);

/**
 * Whether the participant could not decode the JSON of a request, such as an Int that is a number. It reports an internal error
 * then, although it has not begun to work (observed on 3.5.10: `ujson.Value$InvalidData: Expected ujson.Str`).
 */
export const isUndecodedRequest = ({ code, context = {}, reason = '' }: Facts): boolean =>
  code === 'LEDGER_API_INTERNAL_ERROR' && /\bujson\./.test(`${context['throwableO'] ?? ''} ${reason}`);

/** The remedy for a refusal, for messages; `undefined` if the explanation has it. */
export function nextStep(error: Facts): string | undefined {
  if (isUndecodedRequest(error)) return argumentsAdvice;
  return lacksUser(error) ? userIdAdvice : nextSteps[rejectionReason(error)];
}

/** Whether neither the request nor a token names the user. The participant calls the token invalid then, also without one. */
export const lacksUser = ({ code, reason = '' }: Pick<Facts, 'code' | 'reason'>): boolean =>
  code === 'INVALID_TOKEN' && reason.includes('missing a user-id');

/** The remedy for a request that the participant could not decode. */
export const argumentsAdvice =
  'correct the JSON of the arguments: in Daml JSON, an Int, a Decimal and a time are texts';

/** The remedy for a request without a user. */
export const userIdAdvice = 'pass userId: no token names the user';

const nextSteps: Readonly<Partial<Record<RejectionReason, string>>> = {
  contention: 'read the contracts again, and submit again; see retryContention',
  inactiveContract: 'read the contracts again, and submit again; see retryContention',
  packages: 'upload and vet the package on all participants of the transaction',
  traffic: 'pause all submissions until the participant has traffic',
  backPressure: 'submit less at a time',
  timeout: 'submit it again later',
};

/** What each refusal means for the person at a screen. */
export const refusals: Readonly<Record<RejectionReason, string>> = {
  contention: 'Another change was faster, and nothing has changed: try again.',
  inactiveContract: 'What your request is about has changed or is no longer there.',
  refusal: 'The rules of the contract do not allow this.',
  authorization: 'You are not allowed to do this.',
  packages: 'Not everyone involved has the software for this.',
  traffic: 'The ledger has no capacity left for this request.',
  backPressure: 'The ledger is busy, and nothing has changed: try again later.',
  topology: 'Not everyone involved can be reached.',
  timeout: 'The request took too long, and nothing has changed: try again.',
  invalid: 'The request is not valid, and nothing has changed.',
  other: 'The ledger refused the request, and nothing has changed.',
};

/** The content of an error of the participant. */
interface Facts {
  readonly code: string | undefined;
  readonly errorCategory: number | undefined;
  readonly status: number;
  readonly context?: Readonly<Record<string, string>>;
  /** The explanation. */
  readonly reason?: string;
}

/** The codes of each reason. The first pattern that matches decides. */
const patterns: readonly (readonly [RejectionReason, RegExp])[] = [
  ['contention', /LOCKED_CONTRACTS|^INCONSISTENT(_CONTRACT_KEY)?$/],
  ['timeout', /^SEQUENCER_REQUEST_FAILED$|^MEDIATOR_INVALID_MESSAGE$|^OUTDATED_TRAFFIC_COST$/],
  ['inactiveContract', /INACTIVE_CONTRACTS|^CONTRACT_(NOT_|KEY_NOT_|PAYLOAD_NOT_)|^UNKNOWN_CONTRACT_SYNCHRONIZER/],
  ['refusal', /^(DAML_FAILURE|UNHANDLED_EXCEPTION|TEMPLATE_PRECONDITION_VIOLATED|INTERPRETATION_USER_ERROR)$/],
  ['authorization', /^DAML_AUTHORIZATION|SIGNATURE|^INVALID_TOKEN$/],
  ['traffic', /TRAFFIC/],
  ['backPressure', /BACKPRESSURE|OVERLOADED|MAXIMUM_NUMBER_OF_STREAMS|MEMORY_OVER_LIMIT/],
  ['packages', /PACKAGE|VETTED|^TEMPLATES_OR_INTERFACES_|^NO_(TEMPLATES|INTERFACE)_/],
  ['invalid', /^DISCLOSED|^PRESCRIBED|DEDUPLICATION|^UNSUPPORTED_CONTRACT_ID$/],
  ['topology', /SYNCHRONIZER|SUBMITTER|INFORMEES|ONBOARDING|MEDIATOR_IS_INACTIVE|NO_VIEW_|REASSIGNMENT/],
  ['timeout', /TIME/],
];
