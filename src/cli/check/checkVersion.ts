import * as t from 'io-ts';
import { map, of, type Observable } from 'rxjs';
import type { Answer } from '../probe/Answer.js';
import { jsonIn } from '../probe/jsonIn.js';
import { plain } from '../text/plain.js';
import type { Finding } from './Finding.js';
import { finder } from './finder.js';
import type { First } from './First.js';
import { isUntold } from './isUntold.js';
import type { Probe } from './Probe.js';
import { troubleOfAnswer } from './troubleOfAnswer.js';
import { troubleOfError } from './troubleOfError.js';

const Version = t.type({ version: t.string });
const { ok, open, failed } = finder('version', 'version');

/** Which release the participant is of. A gateway may want the token even for that. */
export function checkVersion({ ask, connection }: Probe, { version }: First): Observable<Finding> {
  if ('error' in version) return of(failed(troubleOfError(version.error)));
  const { answer } = version;
  const isRefused = [401, 403].includes(answer.status) && connection.token !== undefined;
  return (isRefused ? ask({ method: 'GET', path: '/v2/version' }) : of(answer)).pipe(map(told));
}

function told(answer: Answer): Finding {
  const version = jsonIn(answer, Version)?.version;
  if (version !== undefined) return ok(plain(version).slice(0, 60), { version });
  if (isUntold(answer)) return open('not told');
  return failed(troubleOfAnswer(answer) ?? { kind: 'other', text: 'the answer has no version in it' });
}
