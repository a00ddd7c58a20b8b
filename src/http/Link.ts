import type { ObservableInput } from 'rxjs';
import type { Report } from '../events/Report.js';
import type { Around } from './Around.js';
import type { HttpPort } from './HttpPort.js';

/** A bearer token, or what provides one; a provider is asked anew for every request. */
export type Token = string | (() => string | ObservableInput<string>);

/** What every request to one service has in common. */
export interface Link {
  readonly port: HttpPort;
  /** Without a slash at its end. */
  readonly baseUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly token: Token | undefined;
  readonly requestTimeoutMs: number;
  readonly report: Report;
  /** What is to be done around each request, with its outcome as an error of ours. Default: nothing. */
  readonly around?: Around;
}
