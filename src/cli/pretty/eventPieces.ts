import type { Event } from '../../codecs/Event.js';
import type { ReassignmentEvent } from '../../codecs/ReassignmentEvent.js';
import type { TopologyEvent } from '../../codecs/TopologyEvent.js';
import { plain } from '../text/plain.js';
import { shortId } from '../text/shortId.js';
import type { Piece } from './Piece.js';

/** What happened, in a word: `+Asset` created, `-Asset` archived, `*Asset.Split` exercised; the same several times as `×2`. */
export function eventPieces(events: readonly (Event | ReassignmentEvent | TopologyEvent)[]): readonly Piece[] {
  const counts = new Map<string, { piece: Piece; count: number }>();
  for (const piece of events.map(pieceOf)) {
    const { count } = counts.get(piece.text) ?? { count: 0 };
    counts.set(piece.text, { piece, count: count + 1 });
  }
  return [...counts.values()].map(({ piece, count }) =>
    count > 1 ? { ...piece, text: `${piece.text} ×${count}` } : piece,
  );
}

function pieceOf(event: Event | ReassignmentEvent | TopologyEvent): Piece {
  switch (event._tag) {
    case 'CreatedEvent':
      return { text: `+${entityOf(event.templateId)}`, format: 'green' };
    case 'ArchivedEvent':
      return { text: `-${entityOf(event.templateId)}`, format: 'red' };
    case 'ExercisedEvent': {
      const what = `${entityOf(event.templateId)}.${plain(event.choice)}`;
      return event.consuming ? { text: `-${what}`, format: 'red' } : { text: `*${what}`, format: 'cyan' };
    }
    case 'JsUnassignedEvent':
      return { text: `${entityOf(event.templateId)} → ${shortId(event.target)}`, format: 'magenta' };
    case 'JsAssignmentEvent':
      return { text: `${entityOf(event.createdEvent.templateId)} ← ${shortId(event.source)}`, format: 'magenta' };
    case 'ParticipantAuthorizationAdded':
    case 'ParticipantAuthorizationOnboarding':
      return { text: `${shortId(event.partyId)} on ${shortId(event.participantId)}`, format: 'blue' };
    case 'ParticipantAuthorizationChanged':
      return { text: `${shortId(event.partyId)} changed on ${shortId(event.participantId)}`, format: 'blue' };
    case 'ParticipantAuthorizationRevoked':
      return { text: `${shortId(event.partyId)} off ${shortId(event.participantId)}`, format: 'blue' };
    case 'UnknownEvent':
    case 'UnknownTopologyEvent':
      return { text: `?${plain(event.variant)}`, format: 'dim' };
  }
}

/** The last part of `package-id:Module:Entity`. */
const entityOf = (templateId: string | undefined): string => plain(templateId?.split(':').at(-1) ?? '?');
