import { defer, map, type Observable } from 'rxjs';
import { ExecuteRequest } from '../codecs/ExecuteRequest.js';
import { ExecuteResponse } from '../codecs/ExecuteResponse.js';
import type { Transaction } from '../codecs/Transaction.js';
import { checked } from '../http/checked.js';
import { decoded } from '../http/decoded.js';
import { exchange } from '../http/exchange.js';
import type { Link } from '../http/Link.js';
import { randomUuid } from './randomUuid.js';

const path = '/v2/interactive-submission/executeAndWaitForTransaction';

/** Executes a signed submission, once, whatever comes of it: an answer that is lost does not say that nothing was done. */
export const executeAndWaitForTransaction = (link: Link, request: ExecuteRequest): Observable<Transaction> =>
  defer(() => {
    const body = checked(ExecuteRequest, request);
    return exchange(link, {
      method: 'POST',
      path,
      isSubmission: true,
      body: { ...body, submissionId: body.submissionId ?? randomUuid() },
    });
  }).pipe(map(decoded(path, ExecuteResponse)));
