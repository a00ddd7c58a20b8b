import * as t from 'io-ts';
import { text } from '../../codecs/internal/field.js';
import { EventFormat } from '../../codecs/UpdateFormat.js';
import { invalidArgument, requestError } from '../errors.js';
import { type Answer, type Call, jsonAnswer } from '../http/Call.js';
import type { Ledger } from '../ledger/Ledger.js';
import { checkFilters } from '../ledger/checkPackages.js';
import { visibleTransaction } from '../ledger/visible.js';
import { decodeBody, readBase64, readInteger, readUser } from '../requests/decode.js';
import { selectEvents } from '../requests/selections.js';
import { archivedEvent, type WireEvent, type WireTransaction } from '../wire/WireUpdate.js';

/** `GET /v2/state/ledger-end`: since 3.6 with the record times of the requested synchronizers. */
export function getLedgerEnd({ participant, query }: Call): Answer {
  const { ledger, settings } = participant;
  const offset = ledger.end;
  if (settings.profile < '3.6') return jsonAnswer({ offset });
  const requested = query.getAll('synchronizer_id');
  const synchronizerTimes = ledger.recordTimes.all.filter(({ synchronizerId }) => requested.includes(synchronizerId));
  return jsonAnswer({ offset, synchronizerTimes });
}

/** `GET /v2/state/latest-pruned-offsets` */
export function getPrunedOffsets({ participant }: Call): Answer {
  const { pruned } = participant.ledger;
  return jsonAnswer({ participantPrunedUpToInclusive: pruned, allDivulgedContractsPrunedUpToInclusive: pruned });
}

/** `GET /v2/state/connected-synchronizers`: with a party, its synchronizers and the participant's permission for it. */
export function getConnectedSynchronizers({ participant, query }: Call): Answer {
  const { settings, hosted } = participant;
  const party = query.get('party');
  const hosting = hosted.find(party ?? '') === undefined ? 'SUBMISSION' : 'CONFIRMATION';
  const permission = `PARTICIPANT_PERMISSION_${party === null ? 'UNSPECIFIED' : hosting}`;
  const synchronizers = party === null || hosted.all.includes(party) ? settings.synchronizers : [];
  const connectedSynchronizers = synchronizers.map((synchronizerId) => ({
    synchronizerAlias: synchronizerId.split('::')[0],
    synchronizerId,
    permission,
  }));
  return jsonAnswer({ connectedSynchronizers });
}

/** `GET /v2/version` */
export function getVersion({ participant }: Call): Answer {
  const duration = { seconds: 75, nanos: 0, unknownFields: { fields: {} } };
  return jsonAnswer({
    version: participant.settings.version,
    features: {
      experimental: { staticTime: { supported: false }, commandInspectionService: { supported: true } },
      userManagement: { supported: true, maxRightsPerUser: 1000, maxUsersPageSize: 1000 },
      partyManagement: { maxPartiesPageSize: largestPartiesPage },
      offsetCheckpoint: { maxOffsetCheckpointEmissionDelay: duration },
      packageFeature: { maxVettedPackagesPageSize: 100 },
    },
  });
}

const largestPartiesPage = 10_000;

/** `GET /v2/parties`: a page of the parties that the participant hosts, in the order of their names. */
export function getParties({ participant, query }: Call): Answer {
  const size = readInteger(query, 'pageSize') ?? 0;
  if (size < 0 || size > largestPartiesPage)
    throw invalidArgument(`page_size ${size} is not between 0 and ${largestPartiesPage}`);
  const after = readBase64(query.get('pageToken') ?? '', 'pageToken').toString();
  const rest = [...participant.hosted.all].sort().filter((party) => party > after);
  const page = rest.slice(0, size === 0 ? largestPartiesPage : size);
  const localMetadata = { resourceVersion: '0', annotations: {} };
  return jsonAnswer({
    partyDetails: page.map((party) => ({ party, isLocal: true, localMetadata, identityProviderId: '' })),
    nextPageToken: page.length < rest.length ? Buffer.from(page.at(-1) ?? '').toString('base64') : '',
  });
}

/** `GET /v2/authenticated-user`: the sandbox has one user, if it checks tokens. */
export function getAuthenticatedUser({ participant }: Call): Answer {
  const id = readUser(undefined, participant.settings);
  const metadata = { resourceVersion: '0', annotations: {} };
  const rest = { isDeactivated: false, metadata, identityProviderId: '', primaryPartyAuthentication: false };
  return jsonAnswer({ user: { id, primaryParty: '', ...rest } });
}

/** `GET /v2/users/{user-id}/rights`: every user may act as all parties that the sandbox hosts. */
export const getUserRights = ({ participant }: Call): Answer =>
  jsonAnswer({
    rights: [...participant.hosted.all].sort().map((party) => ({ kind: { CanActAs: { value: { party } } } })),
  });

/** `GET /v2/parties/participant-id` */
export const getParticipantId = ({ participant }: Call): Answer =>
  jsonAnswer({ participantId: participant.settings.participantId });

/** `GET /v2/packages` */
export const getPackages = ({ participant }: Call): Answer =>
  jsonAnswer({ packageIds: participant.ledger.packages.ids });

/** `POST /v2/packages` and `POST /v2/dars`: uploads the packages of a Daml archive. */
export function uploadDar({ participant, bytes }: Call): Answer {
  participant.ledger.packages.addArchive(readDar(bytes));
  return jsonAnswer({});
}

const EventsBody = t.type({ contractId: text, eventFormat: EventFormat });

/** `POST /v2/events/events-by-contract-id`: the creation and the archive of a contract. Assignments are not found. */
export function getEventsByContractId({ body, participant }: Call): Answer {
  const { ledger, settings } = participant;
  const { contractId, eventFormat } = decodeBody(EventsBody, body, settings);
  const events = selectEvents(eventFormat, settings.profile);
  checkFilters(ledger.packages, events);
  const { creation, archive } = findEvents(contractId, ledger);
  // witnesses also see the creation of a contract that the same transaction archives
  const ledgerEffects = creation?.transaction === archive?.transaction;
  const createdEvent = creation && visibleEvent(creation, ledgerEffects)?.CreatedEvent;
  if (createdEvent === undefined || (archive?.transaction.offset ?? Infinity) <= ledger.pruned)
    throw requestError('CONTRACT_EVENTS_NOT_FOUND', 'Contract events not found, or not visible.');
  const archivedEvent = archive && visibleEvent(archive)?.ArchivedEvent;
  // participants report the synchronizer of the creation, even after a reassignment
  const { synchronizerId } = creation?.transaction ?? {};
  return jsonAnswer({
    created: { createdEvent, synchronizerId },
    archived: archivedEvent === undefined ? null : { archivedEvent, synchronizerId },
  });

  function visibleEvent({ transaction, event }: FoundEvent, ledgerEffects = false) {
    return visibleTransaction({ ...transaction, events: [event] }, { events, ledgerEffects }, participant).events[0];
  }
}

interface FoundEvent {
  readonly transaction: WireTransaction;
  readonly event: WireEvent;
}

/** The creation of a contract, and its archive if there is one. */
function findEvents(contractId: string, { updates }: Ledger) {
  const found: { creation?: FoundEvent; archive?: FoundEvent } = {};
  for (const update of updates) {
    const transaction = 'Transaction' in update ? update.Transaction.value : undefined;
    for (const event of transaction?.events ?? []) {
      if (transaction === undefined || contractOf(event) !== contractId) continue;
      if ('CreatedEvent' in event) found.creation ??= { transaction, event };
      if (found.creation === undefined) continue;
      if ('ArchivedEvent' in event) found.archive ??= { transaction, event };
      // only the exercise is stored if the transaction of the creation archives the contract
      if ('ExercisedEvent' in event && event.ExercisedEvent.consuming)
        found.archive ??= { transaction, event: { ArchivedEvent: archivedEvent(event.ExercisedEvent) } };
    }
  }
  return found;
}

function contractOf(event: WireEvent): string {
  if ('CreatedEvent' in event) return event.CreatedEvent.contractId;
  return 'ArchivedEvent' in event ? event.ArchivedEvent.contractId : event.ExercisedEvent.contractId;
}

/** A package in an archive. */
interface ArchivedPackage {
  readonly packageId: string;
  readonly packageName: string;
}

/**
 * Reads which packages a Daml archive (DAR) contains: a ZIP file with a manifest, whose entries have the names and the
 * ids of the packages. The sandbox has no Daml engine, so it does not read the packages themselves.
 */
function readDar(bytes: Buffer): readonly ArchivedPackage[] {
  const names = entryNames(bytes);
  const packages = names.flatMap((name): readonly ArchivedPackage[] => {
    const file = name.slice(name.lastIndexOf('/') + 1);
    const packageId = /-([0-9a-f]{64})\.dalf$/.exec(file)?.[1] ?? '';
    const packageName = file.slice(0, -`-${packageId}.dalf`.length).replace(/-\d+(?:\.\d+)*$/, '');
    return packageId === '' || packageName === '' ? [] : [{ packageId, packageName }];
  });
  if (!names.includes('META-INF/MANIFEST.MF') || packages.length === 0)
    throw requestError('INVALID_DAR', 'Dar file is corrupt');
  return packages;
}

const directoryEnd = 0x06054b50;
const directoryEntry = 0x02014b50;

/** The names of the entries of a ZIP file, from its directory; none if it is not a ZIP file. */
function entryNames(bytes: Buffer): readonly string[] {
  const signature = Buffer.alloc(4);
  signature.writeUInt32LE(directoryEnd);
  const end = bytes.lastIndexOf(signature);
  const names: string[] = [];
  if (end < 0 || end + 22 > bytes.length) return names;
  let at = bytes.readUInt32LE(end + 16);
  while (at + 46 <= end && bytes.readUInt32LE(at) === directoryEntry) {
    const [nameLength, extraLength, commentLength] = [28, 30, 32].map((field) => bytes.readUInt16LE(at + field));
    const nameEnd = at + 46 + (nameLength ?? 0);
    names.push(bytes.toString('utf8', at + 46, nameEnd));
    at = nameEnd + (extraLength ?? 0) + (commentLength ?? 0);
  }
  return names;
}
