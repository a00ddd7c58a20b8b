import type { ObservableInput } from 'rxjs';
import type { Offset } from '../codecs/Offset.js';
import type { UpdatesRequest } from '../codecs/UpdatesRequest.js';
import type { Report } from '../events/Report.js';
import type { CompleteRetryPolicy } from '../http/RetryPolicy.js';
import type { Gap } from './Gap.js';
import type { Service } from './Service.js';

/** What stays the same through all requests of one feed. */
export interface Feed {
  readonly service: Service;
  /** Checked. */
  readonly request: UpdatesRequest;
  readonly transport: 'http' | 'websocket';
  readonly maxPageSize: number;
  readonly idleTimeoutMs: number;
  /** The same once nothing has come for a while. */
  readonly quietTimeoutMs: number;
  /** Absent: as many as pay. */
  readonly parallelRanges: number | undefined;
  readonly onInvalid: 'fail' | 'emit';
  readonly onGap: 'fail' | ((gap: Gap) => ObservableInput<Offset>);
  readonly retry: CompleteRetryPolicy;
  readonly report: Report;
}
