import { concatMap, map, type Observable } from 'rxjs';
import { isRecord } from '../../codecs/internal/Codec.js';
import { PrepareRequest } from '../../codecs/SubmissionRequest.js';
import { RequestError, requestError } from '../errors.js';
import type { FaultLie } from '../faults/submissionFaults.js';
import { type Answer, type Call, jsonAnswer } from '../http/Call.js';
import type { Contract } from '../ledger/ContractHistory.js';
import { checkPreference } from '../ledger/checkPackages.js';
import type { Participant } from '../participant/Participant.js';
import type { Settings } from '../participant/Settings.js';
import type { EncodedTransaction } from '../prepared/PreparedEncoding.js';
import { decode, parseBody, readMinLedgerTime, readTime, requireFields } from '../requests/decode.js';
import { checkSynchronizers, inputsFor, readDisclosed } from '../submission/inputs.js';
import { interpret } from '../submission/interpret.js';
import { checkInformees } from '../submission/route.js';
import { formatMicros, trafficCost } from '../wire/values.js';
import { checkHashingScheme } from './execute.js';

/** `POST /v2/interactive-submission/prepare` */
export function prepare({ body, participant, fault }: Call): Observable<Answer> {
  const json = parseBody(body);
  const request = readPrepareRequest(json);
  const honest$ = prepareTransaction(request, participant);
  if (fault?.kind !== 'lie') return honest$.pipe(map(answer));
  return honest$.pipe(
    concatMap((honest) =>
      prepareTransaction(readPrepareRequest(falsify(json, fault)), participant).pipe(
        map((forged) =>
          answer({
            bytes: (fault.about === 'hash' ? honest : forged).bytes,
            hash: (fault.about === 'transaction' ? honest : forged).hash,
          }),
        ),
      ),
    ),
  );

  function answer({ bytes, hash }: EncodedTransaction): Answer {
    const details = `${hash.toString('hex')} # hash of the prepared transaction`;
    const { settings, ledger } = participant;
    return jsonAnswer({
      preparedTransaction: Buffer.from(bytes).toString('base64'),
      preparedTransactionHash: hash.toString('base64'),
      hashingSchemeVersion: 'HASHING_SCHEME_VERSION_V2',
      hashingDetails: request.verboseHashing === true ? details : null,
      ...(settings.profile >= '3.4' && {
        costEstimation:
          request.estimateTrafficCost?.disabled === true ? null : estimateCost(bytes.length, ledger.now()),
      }),
    });
  }
}

function readPrepareRequest(json: unknown): PrepareRequest {
  requireFields(json, 'synchronizerId', 'packageIdSelectionPreference');
  return decode(PrepareRequest, json);
}

function prepareTransaction(request: PrepareRequest, participant: Participant): Observable<EncodedTransaction> {
  const { ledger, models, settings, hosted, encoding } = participant;
  const { commandId, minLedgerTime, maxRecordTime, hashingSchemeVersion } = request;
  const [command, ...otherCommands] = request.commands;
  const [party = '', ...otherParties] = request.actAs;
  if (otherCommands.length > 0 || command === undefined) throw notSupported('one command per submission is');
  if (otherParties.length > 0) throw notSupported('one acting party per submission is');
  const times = {
    minLedgerTime: readMinLedgerTime(minLedgerTime, ledger.now()),
    maxRecordTime: maxRecordTime ? readTime(maxRecordTime, 'maxRecordTime') : undefined,
  };
  const scheme = hashingSchemeVersion?.replace('UNSPECIFIED', 'V2') ?? 'HASHING_SCHEME_VERSION_V2';
  checkHashingScheme(scheme, settings.profile, 'FAILED_TO_PREPARE_TRANSACTION');
  // also a party for which the participant signs: to estimate the traffic of its commands
  if (!hosted.all.includes(party)) {
    const cause = `${party} is not a party of this participant`;
    throw requestError('NO_SYNCHRONIZER_ON_WHICH_ALL_SUBMITTERS_CAN_SUBMIT', cause);
  }
  if (!('CreateCommand' in command || 'ExerciseCommand' in command))
    throw notSupported('CreateCommand and ExerciseCommand are');
  const { packages } = ledger;
  const preparationTime = Math.floor(ledger.now()) * 1000;
  const disclosed = readDisclosed(request, participant);
  const visible = inputsFor([party, ...(request.readAs ?? [])], disclosed, participant);
  const preferred = request.packageIdSelectionPreference ?? [];
  checkPreference(packages, preferred);
  const context = { actAs: [party], packages, models, preferred, time: formatMicros(preparationTime), ...visible };
  const { effects, inputs } = interpret([command], context);
  const [effect] = effects;
  if (effect === undefined) throw new Error('each command has an effect');
  checkInformees({ actAs: [party], effects, inputs }, hosted);
  checkSynchronizers(inputs, disclosed, ledger);
  const synchronizerId = chooseSynchronizer(request.synchronizerId ?? '', inputs, settings);
  const submission = { commandId, party, synchronizerId, effect, preparationTime, ...times };
  return encoding.encode(
    submission,
    inputs.map(({ created }) => created),
  );
}

function notSupported(limit: string) {
  return requestError('FAILED_TO_PREPARE_TRANSACTION', `Only ${limit} supported`);
}

/** Returns the synchronizer of a submission: the requested one, else that of its contracts, else the first one. */
function chooseSynchronizer(requested: string, inputs: readonly Contract[], { synchronizers }: Settings): string {
  const chosen = requested === '' ? (inputs[0]?.synchronizerId ?? synchronizers[0] ?? '') : requested;
  const areThere = inputs.every(({ synchronizerId }) => synchronizerId === chosen);
  if (synchronizers.includes(chosen) && areThere) return chosen;
  const cause = `This participant is not connected to synchronizer ${chosen}, or a contract is on another`;
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
function estimateCost(size: number, now: number): object {
  const [request, response] = [trafficCost(size), 1096];
  return {
    estimationTimestamp: formatMicros(Math.floor(now) * 1000),
    confirmationRequestTrafficCostEstimation: request,
    confirmationResponseTrafficCostEstimation: response,
    totalTrafficCostEstimation: request + response,
  };
}
