import { map, type Observable } from 'rxjs';
import { participantId } from '../probe/participantId.js';
import type { Finding } from './Finding.js';
import { finder } from './finder.js';
import type { Probe } from './Probe.js';
import { shortened } from './shortened.js';

const { ok, open } = finder('participant', 'participant');

/** Which participant it is. */
export const checkParticipant = ({ ask }: Probe): Observable<Finding> =>
  participantId(ask).pipe(map((id) => (id === undefined ? open('not told') : ok(shortened(id), { id }))));
