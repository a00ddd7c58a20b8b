import { serverSentEventsHeaders, toServerSentEvents } from 'canton-rx/sse';
import { merge } from 'rxjs';
import { stopping$, viewOfUser } from '../../../lib/contracts';
import { currentSession } from '../../../lib/sessions';

// the views are in the memory of a process of Node.js, and no response is the same for two requests
export const runtime = 'nodejs';
export const dynamic = 'force-dynamic';

/** Sends the contracts of a user, for `shareRemoteContracts`. Nothing of the request but its session says whose. */
export async function GET(request: Request): Promise<Response> {
  const session = await currentSession();
  if (session === undefined) return new Response(null, { status: 401 });
  const events = toServerSentEvents(viewOfUser(session.user).changes$, {
    lastEventId: request.headers.get('last-event-id'),
    keepMs: 5_000,
    until$: merge(session.ended$, stopping$),
  });
  // with the stream, its connection ends: a page that connects again reaches no server that stops
  return new Response(events, { headers: { ...serverSentEventsHeaders, connection: 'close' } });
}
