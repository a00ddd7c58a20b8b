import type { ReassignmentEvent, TopologyEvent, TransactionEvent } from 'canton-rx';
import type { Effect } from './row';
import { shortId, templateName } from './names';

/** The data of one event that a row needs. */
export interface Facts {
  readonly kind: Effect['kind'];
  readonly label: string;
  /** `package-name:Module:Entity`. */
  readonly template?: string | undefined;
  readonly packageName?: string;
  readonly contractId?: string;
  readonly parties: readonly string[];
}

export function factsOf(event: TransactionEvent | ReassignmentEvent | TopologyEvent): Facts {
  switch (event._tag) {
    case 'CreatedEvent':
      return { ...contract(event), kind: 'created', label: entity(event.templateId), parties: stakeholders(event) };
    case 'ArchivedEvent':
      return { ...contract(event), kind: 'archived', label: entity(event.templateId), parties: event.witnessParties };
    case 'ExercisedEvent':
      return {
        ...contract(event),
        kind: event.consuming ? 'archived' : 'exercised',
        label: `${entity(event.templateId)}.${event.choice}`,
        parties: [...event.actingParties, ...event.witnessParties],
      };
    case 'AssignedEvent': {
      const { createdEvent } = event;
      const label = `${entity(createdEvent.templateId)} ← ${shortId(event.source)}`;
      return { ...contract(createdEvent), kind: 'moved', label, parties: stakeholders(createdEvent) };
    }
    case 'UnassignedEvent': {
      const label = `${entity(event.templateId ?? '')} → ${shortId(event.target)}`;
      return { ...contract(event), kind: 'moved', label, parties: event.witnessParties };
    }
    case 'ParticipantAuthorizationAdded':
    case 'ParticipantAuthorizationChanged':
    case 'ParticipantAuthorizationOnboarding':
    case 'ParticipantAuthorizationRevoked': {
      const what = event._tag.slice('ParticipantAuthorization'.length).toLowerCase();
      const label = `${shortId(event.partyId)} @ ${shortId(event.participantId)} ${what}`;
      return { kind: 'hosted', label, parties: [event.partyId] };
    }
    default:
      return { kind: 'other', label: event._tag, parties: [] };
  }
}

const entity = (templateId: string): string => templateId.slice(templateId.lastIndexOf(':') + 1);

const contract = ({
  templateId,
  packageName,
  contractId,
}: {
  readonly templateId?: string | undefined;
  readonly packageName: string;
  readonly contractId: string;
}) => ({
  template: templateId === undefined ? undefined : templateName(templateId, packageName),
  packageName,
  contractId,
});

const stakeholders = (event: { readonly signatories: readonly string[]; readonly observers: readonly string[] }) => [
  ...event.signatories,
  ...event.observers,
];
