import { Refusal, refused } from '../errors.js';
import type { FaultLie } from '../Fault.js';
import { type Answer, type Call, jsonAnswer } from '../http/Call.js';
import type { Participant } from '../participant/Participant.js';
import { buildPrepared, encodePrepared, type PreparedBytes } from '../prepared/build.js';
import { loadVendor, type Vendor } from '../prepared/Prepared.js';
import { Cursor, isRecord, parseBody } from '../requests/Cursor.js';
import { readPrepare, type Submission } from '../requests/prepareRequest.js';
import { timestampOf, trafficCost } from '../wire/values.js';
import { checkHashingScheme } from './checks.js';

/** `POST /v2/interactive-submission/prepare` */
export async function prepare({ body, participant, fault }: Call): Promise<Answer> {
  const vendor = await loadVendor();
  const request = parseBody(body);
  const truth = await prepared(request, participant, vendor);
  const lie =
    fault?.kind === 'lie' ? await prepared(new Cursor(falsify(request.value, fault)), participant, vendor) : truth;
  const { bytes } = fault?.kind === 'lie' && fault.about === 'hash' ? truth : lie;
  const { hash } = fault?.kind === 'lie' && fault.about === 'transaction' ? truth : lie;
  const verbose = request.field('verboseHashing').boolean();
  const estimate = request.field('estimateTrafficCost').optional((asked) => !asked.field('disabled').boolean()) ?? true;
  return jsonAnswer({
    preparedTransaction: Buffer.from(bytes).toString('base64'),
    preparedTransactionHash: hash.toString('base64'),
    hashingSchemeVersion: 'HASHING_SCHEME_VERSION_V2',
    hashingDetails: verbose ? `${hash.toString('hex')} # hash of the prepared transaction` : null,
    costEstimation: estimate ? estimateCost(bytes.length) : null,
  });
}

function prepared(request: Cursor, participant: Participant, vendor: Vendor): Promise<PreparedBytes> {
  const { hashingSchemeVersion, ...submission } = readPrepare(request);
  checkHashingScheme(hashingSchemeVersion, participant.settings.profile, 'FAILED_TO_PREPARE_TRANSACTION');
  checkCommand(submission, participant);
  const synchronizerId = locate(submission, participant);
  return encodePrepared(buildPrepared({ ...submission, synchronizerId }, participant.ledger), vendor);
}

/** Refuses what the interpretation of a command would refuse. */
function checkCommand({ command, party }: Submission, { ledger, hosted }: Participant): void {
  if (hosted.find(party) === undefined) {
    throw refused(
      'NO_SYNCHRONIZER_ON_WHICH_ALL_SUBMITTERS_CAN_SUBMIT',
      `${party} is no external party of this participant`,
    );
  }
  if (command.kind === 'create') return;
  const { contractId, templateId } = command;
  const contract = ledger.contracts.get(contractId);
  if (contract === undefined) {
    throw refused('CONTRACT_NOT_FOUND', `Contract could not be found with id ${contractId}`, {
      resources: [['ErrorResource(CONTRACT_ID)', contractId]],
    });
  }
  if (!ledger.packages.matches(templateId, contract.created.templateId)) {
    throw refused('WRONGLY_TYPED_CONTRACT', `Contract ${contractId} is of template ${contract.created.templateId}`);
  }
  if (!contract.created.signatories.includes(party)) {
    throw refused('DAML_AUTHORIZATION_ERROR', `${party} is no signatory of contract ${contractId}`);
  }
}

/** The synchronizer for a submission: where its contract is, or the one asked for, or the first. */
function locate({ command, synchronizerId }: Submission, { ledger, settings }: Participant): string {
  const contract = command.kind === 'archive' ? ledger.contracts.get(command.contractId) : undefined;
  if (synchronizerId === '') return contract?.synchronizerId ?? settings.synchronizers[0] ?? '';
  const isThere = contract === undefined || contract.synchronizerId === synchronizerId;
  if (settings.synchronizers.includes(synchronizerId) && isThere) return synchronizerId;
  const cause = `This participant is not connected to synchronizer ${synchronizerId}, or the contract is on another`;
  throw refused('NOT_CONNECTED_TO_SYNCHRONIZER', cause);
}

/** The request as which a lying participant prepares. */
function falsify(request: unknown, { instead = usualLie }: FaultLie): unknown {
  try {
    return instead(structuredClone(request));
  } catch {
    // what the function threw may hold anything
    throw new Refusal(400, 'The sandbox could not make up a lie.');
  }
}

/** Another first number in what is created; where there is none, another command id. */
function usualLie(request: unknown): unknown {
  if (!isRecord(request)) return request;
  const [command] = Array.isArray(request['commands']) ? (request['commands'] as readonly unknown[]) : [];
  const create = isRecord(command) ? command['CreateCommand'] : undefined;
  const fields = isRecord(create) && isRecord(create['createArguments']) ? create['createArguments'] : {};
  const number = Object.entries(fields).find(([, value]) => typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value));
  if (number === undefined) return { ...request, commandId: `${String(request['commandId'])}-other` };
  const [label, value] = number;
  const createArguments = { ...fields, [label]: String(value).replace(/\d/, '9$&') };
  return { ...request, commands: [{ CreateCommand: { ...Object(create), createArguments } as unknown }] };
}

/** What a prepare answer says about the cost to come. */
function estimateCost(size: number): object {
  const [request, response] = [trafficCost(size), 1096];
  return {
    estimationTimestamp: timestampOf(Date.now() * 1000),
    confirmationRequestTrafficCostEstimation: request,
    confirmationResponseTrafficCostEstimation: response,
    totalTrafficCostEstimation: request + response,
  };
}
