import { isRecord } from '../../codecs/internal/Codec.js';
import { RequestError, requestError } from '../errors.js';
import type { FaultLie } from '../Fault.js';
import { type Answer, type Call, jsonAnswer } from '../http/Call.js';
import type { Participant } from '../participant/Participant.js';
import { buildPrepared, encodePrepared, type PreparedBytes } from '../prepared/build.js';
import { loadVendor, type Vendor } from '../prepared/PreparedSubmission.js';
import { findChoiceType } from '../prepared/types.js';
import { JsonCursor, parseBody } from '../requests/JsonCursor.js';
import { type PrepareRequest, readPrepareRequest } from '../requests/prepareRequest.js';
import { formatMicros, trafficCost } from '../wire/values.js';
import { checkHashingScheme, controllersOf } from './checks.js';

/** `POST /v2/interactive-submission/prepare` */
export async function prepare({ body, participant, fault }: Call): Promise<Answer> {
  const vendor = await loadVendor();
  const request = parseBody(body);
  const honest = await prepareTransaction(request, participant, vendor);
  const lie = fault?.kind === 'lie' ? fault : undefined;
  const forged = lie && (await prepareTransaction(new JsonCursor(falsify(request.value, lie)), participant, vendor));
  const { bytes } = lie?.about === 'hash' ? honest : (forged ?? honest);
  const { hash } = lie?.about === 'transaction' ? honest : (forged ?? honest);
  const verbose = request.field('verboseHashing').boolean();
  const estimate =
    request.field('estimateTrafficCost').optional((options) => !options.field('disabled').boolean()) ?? true;
  return jsonAnswer({
    preparedTransaction: Buffer.from(bytes).toString('base64'),
    preparedTransactionHash: hash.toString('base64'),
    hashingSchemeVersion: 'HASHING_SCHEME_VERSION_V2',
    hashingDetails: verbose ? `${hash.toString('hex')} # hash of the prepared transaction` : null,
    costEstimation: estimate ? estimateCost(bytes.length) : null,
  });
}

function prepareTransaction(request: JsonCursor, participant: Participant, vendor: Vendor): Promise<PreparedBytes> {
  const { hashingSchemeVersion, ...submission } = readPrepareRequest(request);
  checkHashingScheme(hashingSchemeVersion, participant.settings.profile, 'FAILED_TO_PREPARE_TRANSACTION');
  checkCommand(submission, participant);
  const synchronizerId = chooseSynchronizer(submission, participant);
  return encodePrepared(buildPrepared({ ...submission, synchronizerId }, participant.ledger), vendor);
}

/** Rejects a command that its interpretation would reject. */
function checkCommand({ command, party }: PrepareRequest, { ledger, hosted }: Participant): void {
  if (hosted.find(party) === undefined) {
    throw requestError(
      'NO_SYNCHRONIZER_ON_WHICH_ALL_SUBMITTERS_CAN_SUBMIT',
      `${party} is not an external party of this participant`,
    );
  }
  if (command.kind === 'create') return;
  const { contractId, templateId, choice } = command;
  const contract = ledger.contracts.get(contractId);
  if (contract === undefined) {
    throw requestError('CONTRACT_NOT_FOUND', `Contract could not be found with id ${contractId}`, {
      resources: [['ErrorResource(CONTRACT_ID)', contractId]],
    });
  }
  if (!ledger.packages.matches(templateId, contract.created.templateId)) {
    throw requestError(
      'WRONGLY_TYPED_CONTRACT',
      `Contract ${contractId} is of template ${contract.created.templateId}`,
    );
  }
  const { packageName } = contract.created;
  if (findChoiceType({ id: contract.created.templateId, packageName }, choice) === undefined) {
    throw requestError(
      'FAILED_TO_PREPARE_TRANSACTION',
      `The sandbox has no choice ${choice} of ${contract.created.templateId}: all templates have Archive, and its own templates with an owner have Touch and Transfer`,
    );
  }
  if (!controllersOf(contract.created, choice).includes(party)) {
    throw requestError('DAML_AUTHORIZATION_ERROR', `${party} does not control ${choice} of contract ${contractId}`);
  }
}

/** Returns the synchronizer of a submission: the requested one, else that of its contract, else the first one. */
function chooseSynchronizer({ command, synchronizerId }: PrepareRequest, { ledger, settings }: Participant): string {
  const contract = command.kind === 'exercise' ? ledger.contracts.get(command.contractId) : undefined;
  if (synchronizerId === '') return contract?.synchronizerId ?? settings.synchronizers[0] ?? '';
  const isThere = contract === undefined || contract.synchronizerId === synchronizerId;
  if (settings.synchronizers.includes(synchronizerId) && isThere) return synchronizerId;
  const cause = `This participant is not connected to synchronizer ${synchronizerId}, or the contract is on another`;
  throw requestError('NOT_CONNECTED_TO_SYNCHRONIZER', cause);
}

/** Returns the request that the fault `lie` prepares instead of the received one. */
function falsify(request: unknown, { instead = defaultLie }: FaultLie): unknown {
  try {
    return instead(structuredClone(request));
  } catch {
    // the thrown value may contain anything, so it is not sent
    throw new RequestError(400, 'The sandbox could not make up a lie.');
  }
}

/** Changes the first number among the arguments of a create; without one, changes the command id. */
function defaultLie(request: unknown): unknown {
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

/** The cost estimation of a prepare response. */
function estimateCost(size: number): object {
  const [request, response] = [trafficCost(size), 1096];
  return {
    estimationTimestamp: formatMicros(Date.now() * 1000),
    confirmationRequestTrafficCostEstimation: request,
    confirmationResponseTrafficCostEstimation: response,
    totalTrafficCostEstimation: request + response,
  };
}
