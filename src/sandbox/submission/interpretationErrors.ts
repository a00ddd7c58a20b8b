import { cantonError, invalidArgument, RequestError, requestError } from '../errors.js';
import { invalidField } from '../requests/decode.js';

/** The error of an id that no contract has. Participants check the form of an id and the version in it first. */
export function notFound(contractId: string): RequestError {
  const suffix = /^00[0-9a-f]{64}((?:[0-9a-f]{2}){0,94})$/.exec(contractId)?.[1];
  if (suffix === undefined) return invalidField(`contract_id: cannot parse ContractId "${contractId}"`);
  if (!/^ca1[012]/.test(suffix)) return new RequestError(500, cantonError('NA', { grpcCodeValue: 13 }));
  return contractError('CONTRACT_NOT_FOUND', 'Contract could not be found with id', contractId);
}

export const contractError = (code: string, cause: string, contractId: string): RequestError =>
  requestError(code, `${cause} ${contractId}`, { resources: [['ErrorResource(CONTRACT_ID)', contractId]] });

/** The error of a contract that is not of the type of a command: of its template, or of an interface. */
export const wrongType = (contractId: string, templateId: string, interfaceId: string | undefined): RequestError =>
  interfaceId === undefined
    ? requestError('WRONGLY_TYPED_CONTRACT', `Contract ${contractId} is of template ${templateId}`)
    : requestError(
        'CONTRACT_DOES_NOT_IMPLEMENT_INTERFACE',
        `Contract ${contractId} of ${templateId} does not implement ${interfaceId}`,
      );

/** The error of a choice that a template does not have. */
export const unknownChoice = (choice: string, templateId: string): RequestError =>
  invalidArgument(
    `Invalid template:${templateId} or choice:${choice}. In the sandbox, all templates have Archive, its own templates with an owner have Touch and Transfer, and those of the option templates have their choices`,
  );

export const keyNotFound = (templateId: string): RequestError =>
  requestError('CONTRACT_KEY_NOT_FOUND', `Interpretation error: Error: no contract of ${templateId} has the key`);

/** The error of a look-up by the key of a template that has none. */
export const noKey = (templateId: string): RequestError =>
  requestError('COMMAND_PREPROCESSING_FAILED', `The template ${templateId} has no key`);

export const preconditionViolated = (templateId: string): RequestError =>
  requestError(
    'TEMPLATE_PRECONDITION_VIOLATED',
    `Interpretation error: Error: Update failed due to precondition violation when creating ${templateId}`,
  );

/** The error of a submission in which something was thrown: what a body throws is a user error, as `abort` is in Daml. */
export function interpretationError(thrown: unknown): RequestError {
  if (thrown instanceof RequestError) return thrown;
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  return requestError('INTERPRETATION_USER_ERROR', `Interpretation error: Error: User abort: ${text}`, {
    resources: [['ErrorResource(EXCEPTION_TEXT)', text]],
  });
}
